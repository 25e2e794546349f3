// The type of every resolver.
import type { Awaitable } from '../store/contract.ts'
import type { Paged } from './pagination/paged.ts'

/** There is no `info` argument: resolvers need nothing from the GraphQL execution, so REST routes can call them too. */
export type ResolverFunction<TResult, TParent, TContext, TArgs> = (
  parent: TParent,
  args: TArgs,
  context: TContext,
) => Awaitable<TResult | PagesOf<TResult>>

/** A resolver may return a list in pages. */
type PagesOf<T> = T extends readonly (infer Item)[] ? Paged<Awaited<Item>> : never
