// Reads stored workspaces from PostgreSQL.
import type { OfUser, StoredUser, WorkspaceReads } from '../contract.ts'
import { type Connection, statements } from './connection.ts'
import type { Pool } from './engine/pool.ts'
import { READ_VERBS } from './engine/read-statements.ts'
import { askAll, type ReadVerb, requireNext } from './engine/read-verb.ts'
import { coalesce } from './engine/statement-batcher.ts'

const SQL = statements({
  usersAfter: 'select id, email from workspace_gateway.user where email > $1 order by email limit $2',
  userByEmail: 'select id, email from workspace_gateway.user where email = $1',
  usersById: 'select id, email from workspace_gateway.user where id = any($1::bigint[])',
  exportRefsWithoutProject: `select distinct ref from workspace_gateway.export e where user_id = $1 and not exists (
      select 1 from workspace_gateway.document d
      where d.user_id = e.user_id and d.ref is not null
        and workspace_gateway.key_of(d.ref) = workspace_gateway.key_of(e.ref))
    order by ref`,
})

/** Chooses the connection for a read. It may run the read twice. */
export type RunRead = <T>(read: (connection: Connection) => Promise<T>) => Promise<T>

/** Turns a verb into a function that answers a batch of questions: one answer per question, in the same order. */
export type Answering = <K extends OfUser, V>(
  verb: ReadVerb<K, V>,
) => (questions: readonly K[]) => Promise<readonly V[]>

/** Answers from the primary, so always from the newest state. */
export function answering(run: RunRead): Answering {
  return (verb) => async (questions) => {
    if (questions.length === 0) return []
    const answers = await run((connection) => askAll(connection, verb, questions, true))
    return answers.map(({ value, stateVersion }, index) => {
      questions[index]?.expected?.onRead(stateVersion)
      return value
    })
  }
}

/** Queues questions while a statement is in flight and sends them as one batch. */
export function coalesced(answers: Answering, pool: Pick<Pool, 'ofRequest' | 'patienceMs'>): Answering {
  return (verb) => coalesce(answers(verb), pool)
}

/** A page from the end has a statement of its own, so that the statement for pages from the start stays simple. */
function fromEitherEnd<K extends OfUser & { readonly fromEnd?: boolean | undefined }, V>(
  fromStart: (questions: readonly K[]) => Promise<readonly V[]>,
  fromEnd: (questions: readonly K[]) => Promise<readonly V[]>,
): (questions: readonly K[]) => Promise<readonly V[]> {
  return async (questions) => {
    if (!questions.some((question) => question.fromEnd)) return fromStart(questions)
    const [first, last] = await Promise.all([
      fromStart(questions.filter((question) => !question.fromEnd)),
      fromEnd(questions.filter((question) => question.fromEnd)),
    ])
    const [nextFirst, nextLast] = [first.values(), last.values()]
    return questions.map((question) => requireNext(question.fromEnd ? nextLast : nextFirst))
  }
}

export function createReads(run: RunRead, answers: Answering = answering(run)): WorkspaceReads {
  return {
    documentsOf: fromEitherEnd(answers(READ_VERBS.documentsOf), answers(READ_VERBS.documentsFromEnd)),
    documentsWithin: fromEitherEnd(answers(READ_VERBS.documentsWithin), answers(READ_VERBS.documentsWithinFromEnd)),
    documentsById: answers(READ_VERBS.documentsById),
    documentCounts: answers(READ_VERBS.documentCounts),
    projectsByRef: answers(READ_VERBS.projectsByRef),
    latestExports: answers(READ_VERBS.latestExports),
    exportsByKey: answers(READ_VERBS.exportsByKey),
    exportsOf: fromEitherEnd(answers(READ_VERBS.exportsOf), answers(READ_VERBS.exportsFromEnd)),
    exportCounts: answers(READ_VERBS.exportCounts),
    elementsOf: fromEitherEnd(answers(READ_VERBS.elementsOf), answers(READ_VERBS.elementsFromEnd)),
    elementsWithin: fromEitherEnd(answers(READ_VERBS.elementsWithin), answers(READ_VERBS.elementsWithinFromEnd)),
    elementRunsOf: answers(READ_VERBS.elementRunsOf),
    usersAfter: (email, limit) =>
      run((connection) => connection.query<StoredUser & object>(SQL.usersAfter, [email, limit])),
    userByEmail: (email) =>
      run(async (connection) => (await connection.query<StoredUser & object>(SQL.userByEmail, [email]))[0] ?? null),
    usersById: (ids) => run((connection) => connection.query<StoredUser & object>(SQL.usersById, [ids])),
    exportRefsWithoutProject: (userId) =>
      run(async (connection) =>
        (await connection.query<{ ref: string }>(SQL.exportRefsWithoutProject, [userId])).map(({ ref }) => ref),
      ),
  }
}
