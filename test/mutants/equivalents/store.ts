// Of the folder `store`, what is remembered, and how: mutants that nobody outside could tell from it.
import type { Equivalent } from './equivalent.ts'

export const STORE_EQUIVALENTS: readonly Equivalent[] = [
  {
    path: 'src/store/cutover/cutover-store.ts',
    line: 'else if (error instanceof StoreClosedError && performance.now() < giveUpAt) await whileClosed(refusedBy, giveUpAt)',
    to: '<=',
    reason: 'nobody counts the wait to the microsecond',
  },
  {
    path: 'src/store/sqlite/space.ts',
    line: `if (isIncremental()) await commits.write(() => writer.pragma(\`incremental_vacuum(\${PAGES_PER_CALL})\`))`,
    to: 'true',
    reason: 'SQLite gives nothing back of a file that is not incremental',
  },
  {
    path: 'src/store/sqlite/backup.ts',
    line: 'database = new SqliteDatabase(path, { fileMustExist: true, readonly: true })',
    to: 'false',
    reason: 'nothing is written while the file is looked at',
  },
  {
    path: 'src/store/postgres/reads.ts',
    line: 'if (!questions.some((question) => question.fromEnd)) return fromStart(questions)',
    to: 'false',
    reason: 'the same answers, with a statement more for none',
  },
  {
    path: 'src/store/postgres/import.ts',
    line: 'if (staging.length > 0) await stageExports(connection, staging, userIds)',
    to: 'true',
    reason: 'nothing is staged with a statement more',
  },
  {
    path: 'src/store/sqlite/engine/data-version-cache.ts',
    line: 'if (found === undefined) return undefined',
    to: 'false',
    reason: 'undefined that is remembered is read again',
  },
  {
    path: 'src/store/sqlite/backup.ts',
    line: 'if (newestAt !== writtenAt) pause(tookMs * PAUSE)',
    reason: 'a pause more or less is nothing but time',
  },
  {
    path: 'src/store/sqlite/engine/read-transaction.ts',
    line: 'if (database.inTransaction) rollback.run()',
    to: 'true',
    reason: 'a transaction that is not there cannot be rolled back, and nobody is told',
  },
  {
    path: 'src/store/sqlite/engine/read-transaction.ts',
    line: 'if (!database.open || !database.inTransaction) return',
    to: 'false',
    reason: 'a transaction that is not there cannot be committed, and nobody is told',
  },
  {
    path: 'src/store/batch-per-turn.ts',
    line: 'const values = isPromise(loading) ? await loading : loading',
    to: 'true',
    reason: 'what is there already comes a promise job later, in the same turn',
  },
  {
    path: 'src/store/sqlite/engine/document-pages.ts',
    line: 'if (shortLists.size >= MAX_SHORT_LISTS) shortLists.clear()',
    reason: 'a list that is not remembered is found to be short again',
  },
  {
    path: 'src/store/sqlite/engine/document-pages.ts',
    line: 'if (!seen || limit !== null || after !== 0 || before !== undefined) return false',
    from: '!seen || limit !== null || after !== 0 || before !== undefined',
    to: 'true',
    reason: 'a list that is not remembered is found to be short again',
  },
  {
    path: 'src/store/sqlite/engine/document-pages.ts',
    line: 'if (isWhole && page.after === 0 && page.before === undefined && page.seen)',
    to: 'false',
    reason: 'a list that is not remembered is found to be short again',
  },
  {
    path: 'src/store/sqlite/engine/export-pages.ts',
    line: 'if (after === null && before === undefined && !fromEnd) return newest.all(userId, ref, most)',
    to: 'false',
    reason: 'the general statement answers the same',
  },
  {
    path: 'src/store/sqlite/engine/newest-exports.ts',
    line: 'if (rows.length < refs.length) for (const index of projects.all(asked, userId)) answers[index] ??= null',
    to: 'true',
    reason: 'what has an answer keeps it',
  },
  {
    path: 'src/store/sqlite/engine/data-version-cache.ts',
    line: 'if (othersVersion.get() !== lastOthersVersion) remembered.clear()',
    to: 'true',
    reason: 'what is forgotten is read again',
  },
]
