// One read of PostgreSQL: a single statement for all questions of a batch.
import type { OfUser } from '../../contract.ts'
import type { Connection, Statement } from '../connection.ts'

/** `n` counts questions from 1. */
type Row<R> = Partial<R> & { readonly n: number; readonly otherStamp: string | null }

export interface ReadVerb<K extends OfUser, V> {
  readonly statement: Statement
  /** The parameters that this verb has beside those of all: one array each. */
  readonly columns: readonly ((question: K) => unknown)[]
  /** From the rows of its question. */
  readonly answer: (rows: readonly Row<object>[], question: K) => V
}

/** The direction a list is read in. */
export type Direction = '' | 'desc'

/** `rows` as they were read, from whichever end. */
export function inListOrder<T>(rows: readonly T[], direction: Direction): readonly T[] {
  return direction === 'desc' ? rows.toReversed() : rows
}

export interface Answer<V> {
  readonly value: V
  /** The state of the user in the same snapshot; null: the user is gone, or the question names none. */
  readonly stateVersion: string | null
}

/** Of every `lateral`: unless `$1` nothing is read where the user's state is not the one the question names. */
export const WHERE = 'where ($1::boolean or u.stamp = asked.stamp) and user_id = asked.user_id'

/**
 * `lateral` reads for one question, `asked`; the first of its columns, `key`, is never null. Every question has at least
 * one row, which tells whether the state is the one it names. (`offset 0`: looked up once a question, not once a row.)
 */
export function readVerb<K extends OfUser, R extends object, V>(
  name: string,
  parameters: readonly (readonly [column: string, type: string, value: (question: K) => unknown])[],
  { key, lateral }: { readonly key: keyof R & string; readonly lateral: string },
  answer: (rows: readonly R[], question: K) => V,
): ReadVerb<K, V> {
  const types = parameters.map(([, type], index) => `, $${index + 4}::${type}[]`).join('')
  const columns = parameters.map(([column]) => `${column}, `).join('')
  return {
    statement: {
      name,
      text: `select asked.n, nullif(coalesce(u.stamp, ''), asked.stamp) as "otherStamp", found.*
        from unnest($2::bigint[], $3::text[]${types}) with ordinality as asked (user_id, stamp, ${columns}n)
        cross join lateral (
          select (select stamp from workspace_gateway.user where id = asked.user_id) as stamp offset 0) u
        left join lateral (${lateral}) found on true`,
    },
    columns: parameters.map(([, , value]) => value),
    // What the statement selects is what `R` says.
    answer: (rows, question) => answer(rows.filter((row) => Reflect.get(row, key) !== null) as R[], question),
  }
}

/** One answer per question, in the order given. `isAnyState` false: only a question whose state it is has a value that counts. */
export async function askAll<K extends OfUser, V>(
  connection: Connection,
  { statement, columns, answer }: ReadVerb<K, V>,
  questions: readonly K[],
  isAnyState: boolean,
): Promise<readonly Answer<V>[]> {
  const rows = await connection.query<Row<object>>(statement, [
    isAnyState,
    questions.map(({ userId }) => userId),
    questions.map(({ seen }) => seen?.stateVersion ?? null),
    ...columns.map((column) => questions.map(column)),
  ])
  const rowsOf: Row<object>[][] = questions.map(() => [])
  for (const row of rows) rowsOf[row.n - 1]?.push(row)
  return questions.map((question, index) => {
    const own = rowsOf[index] ?? []
    return { value: answer(own, question), stateVersion: stateVersionOf(question, own[0]) }
  })
}

/** The row has it only where it is not the one that the question names: most rows are then shorter. */
function stateVersionOf({ seen }: OfUser, row: Row<object> | undefined): string | null {
  if (!seen || !row) return null
  return row.otherStamp === null ? seen.stateVersion : row.otherStamp || null
}

/** The next of answers that come one per question. */
export function requireNext<V>(values: Iterator<V>): V {
  const next = values.next()
  if (next.done) throw new Error('a question was not answered')
  return next.value
}
