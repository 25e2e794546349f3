// The shape of every resolver.
import type { Awaitable } from '../store/contract.ts'
import type { Paged } from './pagination/paged.ts'

/** No `info`: a resolver needs nothing of the GraphQL execution, so a REST row can call it too. */
export type ResolverFunction<TResult, TParent, TContext, TArgs> = (
  parent: TParent,
  args: TArgs,
  context: TContext,
) => Awaitable<TResult | PagesOf<TResult>>

/** A list may come in pages. */
type PagesOf<T> = T extends readonly (infer Item)[] ? Paged<Awaited<Item>> : never
