// Lists mutants that change nothing anybody could see, each with its reason: they are not counted.
import { AUTH_EQUIVALENTS } from './equivalents/auth.ts'
import type { Equivalent } from './equivalents/equivalent.ts'
import { EXECUTION_EQUIVALENTS } from './equivalents/execution.ts'
import { HTTP_EQUIVALENTS } from './equivalents/http.ts'
import { SQL_EQUIVALENTS } from './equivalents/sql.ts'
import { STORE_EQUIVALENTS } from './equivalents/store.ts'
import type { PlacedMutant } from './try-mutant.ts'

export const EQUIVALENTS: readonly Equivalent[] = [
  ...AUTH_EQUIVALENTS,
  ...HTTP_EQUIVALENTS,
  ...STORE_EQUIVALENTS,
  ...SQL_EQUIVALENTS,
  ...EXECUTION_EQUIVALENTS,
  {
    path: 'src/resolvers/identity/node-id.ts',
    line: 'if (known !== undefined) return known',
    to: 'false',
    reason: 'what was remembered is made again, and is the same',
  },
  {
    path: 'src/resolvers/tracing/traced-reads.ts',
    line: 'if (record.steps === null) return services',
    to: 'false',
    reason: 'steps of a request that is not traced are counted nowhere',
  },
  {
    path: 'src/resolvers/pagination/paged.ts',
    line: 'return { [PAGES]: true, nextPage }',
    to: 'false',
    reason: 'that it is there says it, not what it is',
  },
]

export function equivalentOf(mutant: PlacedMutant): Equivalent | undefined {
  return EQUIVALENTS.find((known) => isOf(known, mutant))
}

export function isOf(known: Equivalent, { path, line, from, to }: PlacedMutant): boolean {
  return (
    known.path === path &&
    known.line === line &&
    (known.from === undefined || known.from === from) &&
    (known.to === undefined || known.to === to)
  )
}
