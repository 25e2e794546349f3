// Builds and runs a read that answers a whole batch of questions with one PostgreSQL statement.
import type { OfUser } from '../../contract.ts'
import type { Connection, Statement } from '../connection.ts'

/** `n` is the number of the question, from 1. */
type Row<R> = Partial<R> & { readonly n: number; readonly otherStamp: string | null }

export interface ReadVerb<K extends OfUser, V> {
  readonly statement: Statement
  /** Parameters of this verb in addition to the common ones: one array each. */
  readonly columns: readonly ((question: K) => unknown)[]
  /** Builds the answer from the rows of the question. */
  readonly answer: (rows: readonly Row<object>[], question: K) => V
}

/** Sort direction in which a list is read. */
export type Direction = '' | 'desc'

/** Restores list order when `rows` were read from the end. */
export function inListOrder<T>(rows: readonly T[], direction: Direction): readonly T[] {
  return direction === 'desc' ? rows.toReversed() : rows
}

export interface Answer<V> {
  readonly value: V
  /** State version of the user in the same snapshot. Null: the user is gone, or the question names no state version. */
  readonly stateVersion: string | null
}

/**
 * The condition of every `lateral`. Unless `$1` is true, it reads nothing when the user's state version differs from
 * the one in the question.
 */
export const WHERE = 'where ($1::boolean or u.stamp = asked.stamp) and user_id = asked.user_id'

/**
 * `lateral` reads the rows of one question, `asked`. Its column `key` is never null. Every question returns at least
 * one row, which tells whether the state version matches. (`offset 0` makes the lookup run once per question, not once
 * per row.)
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
    // The cast is safe: the statement selects the columns of `R`.
    answer: (rows, question) => answer(rows.filter((row) => Reflect.get(row, key) !== null) as R[], question),
  }
}

/**
 * Returns one answer per question, in the same order. When `isAnyState` is false, only answers to questions with the
 * current state version are valid.
 */
export async function askAll<K extends OfUser, V>(
  connection: Connection,
  { statement, columns, answer }: ReadVerb<K, V>,
  questions: readonly K[],
  isAnyState: boolean,
): Promise<readonly Answer<V>[]> {
  const rows = await connection.query<Row<object>>(statement, [
    isAnyState,
    questions.map(({ userId }) => userId),
    questions.map(({ expected }) => expected?.stateVersion ?? null),
    ...columns.map((column) => questions.map(column)),
  ])
  const rowsOf: Row<object>[][] = questions.map(() => [])
  for (const row of rows) rowsOf[row.n - 1]?.push(row)
  return questions.map((question, index) => {
    const own = rowsOf[index] ?? []
    return { value: answer(own, question), stateVersion: stateVersionOf(question, own[0]) }
  })
}

/** A row carries the state version only when it differs from the question's, which keeps most rows short. */
function stateVersionOf({ expected }: OfUser, row: Row<object> | undefined): string | null {
  if (!expected || !row) return null
  return row.otherStamp === null ? expected.stateVersion : row.otherStamp || null
}

/** The next value of an iterator that yields one answer per question. */
export function requireNext<V>(values: Iterator<V>): V {
  const next = values.next()
  if (next.done) throw new Error('a question was not answered')
  return next.value
}
