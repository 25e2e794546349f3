// Mutants of the PostgreSQL adapter, and of what both adapters share, that nobody outside could notice.
import type { Equivalent } from './equivalent.ts'
import { SQLITE_EQUIVALENTS } from './sqlite.ts'

/** Lines of the PostgreSQL adapter that skip a statement if there is nothing to ask for. */
const LEAVES_OUT_A_STATEMENT: readonly (readonly [path: string, line: string])[] = [
  [
    'access/sessions.ts',
    'return full.length === 0 ? [] : connection.query<OwnedSession & object>(SQL.endIdlestSessions, asked)',
  ],
  ['copies/row-copies.ts', 'return copies.length === 0 ? [] : QUERIES[type](copies)'],
  ['engine/replica.ts', 'const newer = (others.length === 0 ? [] : await askPrimary(others)).values()'],
  ['import.ts', 'if (staging.length > 0) await stageExports(connection, staging, users.ids)'],
  [
    'import.ts',
    'const stages = stageNames.length > 0 ? await lockStages(connection, stageNames) : new Map<string, Stage>()',
  ],
  ['import.ts', 'if (sealing.length > 0) setAll(outcomes, sealing, await sealExports(connection, sealing, stages))'],
  [
    'import.ts',
    'if (putting.length > 0) setAll(outcomes, putting, await putDocuments(connection, putting, users.ids))',
  ],
  [
    'import.ts',
    "if (unchanged.length > 0) await connection.query(SQL.dropElements, columns(unchanged, ['userId', 'id']))",
  ],
  ['reads.ts', 'if (questions.length === 0) return []'],
  ['removals.ts', 'if (ids.length > 0) await connection.query(SQL.pruneExports, [userId, ids])'],
  [
    'replacements.ts',
    'if (documents.length > 0) await stageDocuments(connection, documents, (email) => ownerOf(email).id)',
  ],
  ['replacements.ts', 'if (exports.length > 0) {'],
  ['replacements.ts', 'if (emails.length === 0) return new Map<string, StagedUser>()'],
  ['replacements.ts', 'if (rows.length === 0) return 0'],
  ['upsert-documents.ts', 'if (rows.length > 0) await connection.query(statement, columns(rows, names))'],
  ['upsert-documents.ts', 'if (asking.length === 0) return new Map<string, string>()'],
  ['upsert-documents.ts', 'if (adding.length === 0) return new Map<string, number>()'],
]

export const STORE_EQUIVALENTS: readonly Equivalent[] = [
  ...SQLITE_EQUIVALENTS,
  ...LEAVES_OUT_A_STATEMENT.flatMap(([path, line]) =>
    (line.includes('=== 0') ? ['false'] : ['true', '>=']).map((to) => ({
      path: `src/store/postgres/${path}`,
      line,
      to,
      reason: 'the same, with a statement more for none',
    })),
  ),
  {
    path: 'src/store/postgres/reads.ts',
    line: 'if (!questions.some((question) => question.fromEnd)) return fromStart(questions)',
    to: 'false',
    reason: 'the same answers, with a statement more for none',
  },
  {
    path: 'src/store/postgres/engine/faults/pg-errors.ts',
    line: "return error instanceof DatabaseError ? (error.code ?? '') : ''",
    to: 'true',
    reason: 'no other error has a code that PostgreSQL has',
  },
  {
    path: 'src/store/postgres/connection.ts',
    line: `if (!isPooled) await runScript(\`begin \${mode}\`)`,
    from: '!isPooled',
    to: 'false',
    reason: 'the settings of the session are those of each transaction once more',
  },
  {
    path: 'src/store/postgres/removals.ts',
    line: 'if (!first) return []',
    to: 'false',
    reason: 'there is no run without a change',
  },
  {
    path: 'src/store/postgres/engine/decide.ts',
    line: 'if (rows.length < expected) await requireActive(connection)',
    to: '<=',
    reason: 'what was told already is asked once more',
  },
  {
    path: 'src/store/postgres/engine/decide.ts',
    line: 'if (rows.length < expected) await requireActive(connection)',
    to: 'true',
    reason: 'what was told already is asked once more',
  },
  {
    path: 'src/store/postgres/access/sessions.ts',
    line: 'if (maxPerUser === undefined) return []',
    to: 'false',
    reason: 'no number of sessions is beyond a limit that is none',
  },
  {
    path: 'src/store/postgres/engine/connection-string.ts',
    line: 'if (!(error instanceof UsageError)) throw error',
    to: 'false',
    reason: 'nothing else is thrown there',
  },
  {
    path: 'src/store/cutover/cutover-store.ts',
    line: 'else if (error instanceof StoreClosedError && performance.now() < giveUpAt) await whileClosed(refusedBy, giveUpAt)',
    from: 'await whileClosed(refusedBy, giveUpAt)',
    reason: 'whoever does not wait asks again at once, until the same moment',
  },
  {
    path: 'src/store/cutover/cutover-store.ts',
    line: 'else if (error instanceof StoreClosedError && performance.now() < giveUpAt) await whileClosed(refusedBy, giveUpAt)',
    to: '<=',
    reason: 'nobody counts the wait to the microsecond',
  },
  {
    path: 'src/store/batch-per-turn.ts',
    line: 'const values = isPromise(loading) ? await loading : loading',
    to: 'true',
    reason: 'what is there already comes a promise job later, in the same turn',
  },
  {
    path: 'src/store/postgres/upsert-documents.ts',
    line: 'if (row.ref !== ref) {',
    to: 'true',
    reason: 'the reference that it has is given to it once more',
  },
  {
    path: 'src/store/postgres/upsert-documents.ts',
    line: 'if (row.ref !== null) owners.delete(refKey(userId, row.ref))',
    to: 'true',
    reason: 'what has no reference never has another one',
  },
  {
    path: 'src/store/postgres/upsert-documents.ts',
    line: 'if (!row.isNew) refChanges.push({ ...row })',
    to: 'true',
    reason: 'a row that is not there yet is not changed',
  },
  {
    path: 'src/store/postgres/sign-in/codes.ts',
    line: 'if ((await pool.repeatable((connection) => connection.query(SQL.isCodeAsked))).length === 0) return []',
    to: 'false',
    reason: 'a transaction that decides nothing',
  },
  {
    path: 'src/store/postgres/sign-in/codes.ts',
    line: 'if (requests.length === 0) return []',
    to: 'false',
    reason: 'a transaction that decides nothing',
  },
  {
    path: 'src/store/postgres/sign-in/codes.ts',
    line: '.toSorted((a, b) => (a.id < b.id ? -1 : 1))',
    to: '<=',
    reason: 'no two have the same id',
  },
  {
    path: 'src/store/batch-per-turn.ts',
    line: 'if (keys.length === 0) schedule(flush)',
    to: 'true',
    reason: 'a batch more, of nothing',
  },
  {
    path: 'src/store/postgres/engine/swap-user.ts',
    line: "if (!counts) throw new Error('the changes of a replacement could not be counted')",
    to: 'false',
    reason: 'a count has a row',
  },
  {
    path: 'src/store/cutover/cutover-store.ts',
    line: 'performance.now() < giveUpAt &&',
    to: '<=',
    reason: 'nobody counts the wait to the microsecond',
  },
]
