// Of the engine below the SQLite adapter: mutants that nobody outside could tell from it.
import type { Equivalent } from './equivalent.ts'

export const SQLITE_ENGINE_EQUIVALENTS: readonly Equivalent[] = [
  {
    path: 'src/store/sqlite/engine/group-commit.ts',
    line: 'if (database.inTransaction) rollback.run()',
    to: 'true',
    reason: 'a transaction that is not there cannot be rolled back, and nobody is told',
  },
  ...['true', '>='].map((to) => ({
    path: 'src/store/sqlite/engine/faults/committed-log.ts',
    line: 'if (seen.frames > 0) [next, before] = [seen.frames, seen.before]',
    to,
    reason: 'a header that was seen has frames, and a log without one has none to be read',
  })),
  {
    path: 'src/store/sqlite/engine/group-commit.ts',
    line: 'if (isBusy(error) && performance.now() - waitingSince < options.lockTimeoutMs) {',
    to: '<=',
    reason: 'nobody counts the wait to the microsecond',
  },
  {
    path: 'src/store/sqlite/engine/data-version-cache.ts',
    line: 'if (found === undefined) return undefined',
    to: 'false',
    reason: 'undefined that is remembered is read again',
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
    path: 'src/store/sqlite/engine/document-pages.ts',
    line: 'if (shortLists.size >= MAX_SHORT_LISTS) shortLists.clear()',
    reason: 'a list that is not remembered is found to be short again',
  },
  {
    path: 'src/store/sqlite/engine/document-pages.ts',
    line: 'shortLists.set(userId * KINDS + KIND_CODES[kind], short)',
    reason: 'a list that is not found is found to be short again, and one of another user is in another state',
  },
  {
    path: 'src/store/sqlite/engine/document-pages.ts',
    line: 'const known = shortLists.get(userId * KINDS + KIND_CODES[kind])',
    reason: 'a list that is not found is found to be short again, and one of another user is in another state',
  },
  {
    path: 'src/store/sqlite/engine/document-pages.ts',
    line: 'return known !== undefined && known.stateVersion === seen?.stateVersion && known.byteLength <= maxBytes',
    to: '<',
    reason: 'a list that is not remembered is found to be short again',
  },
  {
    path: 'src/store/sqlite/engine/document-pages.ts',
    line: 'if (isWhole && page.after === 0 && page.seen)',
    to: 'false',
    reason: 'a list that is not remembered is found to be short again',
  },
  {
    path: 'src/store/sqlite/engine/document-pages.ts',
    line: 'rememberShort(page, { stateVersion: page.seen.stateVersion, byteLength })',
    reason: 'a list that is not remembered is found to be short again',
  },
  {
    path: 'src/store/sqlite/engine/group-commit.ts',
    line: 'release.run()',
    reason: 'savepoints that are left lie within each other, and end with the transaction',
  },
  ...['page.limit !== null', '!=='].map((from) => ({
    path: 'src/store/sqlite/engine/document-pages.ts',
    line: 'if (page.limit !== null) return false',
    from,
    reason: 'a bounded page of a short list is all there either way, it only costs another walk',
  })),
  {
    path: 'src/store/sqlite/engine/make-directories.ts',
    line: 'if (existsSync(path)) return',
    to: 'false',
    reason: 'a folder that is there cannot be made again, and is found to be there',
  },
  {
    path: 'src/store/sqlite/engine/export-pages.ts',
    line: 'if (after === null && before === undefined && !fromEnd) return newest.all(userId, ref, most)',
    to: 'false',
    reason: 'the general statement answers the same',
  },
  {
    path: 'src/store/sqlite/engine/data-version-cache.ts',
    line: 'if (othersVersion.get() !== lastOthersVersion) remembered.clear()',
    to: 'true',
    reason: 'what is forgotten is read again',
  },
  {
    path: 'src/store/sqlite/engine/faults/database-files.ts',
    line: 'if (now.size < file.lastSize) {',
    to: '<=',
    reason: 'a file that is as long as before is as long as SQLite knows',
  },
  {
    path: 'src/store/sqlite/engine/faults/database-files.ts',
    line: 'if (least === null) return',
    to: 'false',
    reason: 'before more can be told, a checkpoint gives the file its length',
  },
  {
    path: 'src/store/sqlite/engine/faults/database-files.ts',
    line: 'for (let look = 0; look < LOOKS_AT_OPEN; look += 1) {',
    to: '<=',
    reason: 'nobody counts the looks',
  },
  {
    path: 'src/store/sqlite/engine/faults/database-files.ts',
    line: 'const least = leastSize(Number(statOf(name)?.size ?? 0n))',
    to: '&&',
    reason: 'what SQLite knows by itself is the same whatever length it is given',
  },
  {
    path: 'src/store/sqlite/engine/faults/committed-log.ts',
    line: 'for (let looks = 0; looks < MAX_LOOKS; looks += 1) {',
    to: '<=',
    reason: 'nobody counts the looks',
  },
  {
    path: 'src/store/sqlite/engine/faults/committed-log.ts',
    line: 'if (seen.frames > 0) [next, before] = [seen.frames, seen.before]',
    to: 'false',
    reason: 'what was found before is found again',
  },
  {
    path: 'src/store/sqlite/engine/faults/committed-log.ts',
    line: 'if (frames[at + FRAME_HEADER_BYTES - 1] !== 0 && frames[at + frameBytes - 1] !== 0) return true',
    to: 'false',
    reason: 'the sums of a frame that is there are right',
  },
  {
    path: 'src/store/sqlite/engine/faults/sqlite-errors.ts',
    line: "return error instanceof SqliteDatabase.SqliteError ? error.code : ''",
    to: 'true',
    reason: 'no other error has a code that SQLite has',
  },
  {
    path: 'src/store/sqlite/engine/group-commit.ts',
    line: 'return false',
    reason: 'who was refused has no answer',
  },
  {
    path: 'src/store/sqlite/engine/group-commit.ts',
    line: 'if (answer) resolve(answer.value)',
    to: 'true',
    reason: 'who was not refused has an answer',
  },
  {
    path: 'src/store/sqlite/engine/data-version-cache.ts',
    line: 'if (oldest !== undefined) remembered.delete(oldest)',
    to: 'true',
    reason: 'where there are too many, there is an oldest',
  },
  {
    path: 'src/store/sqlite/engine/newest-exports.ts',
    line: 'if (refs.length === 1) answers.push(newestOf({ ...first, ref: wellFormed(first) }))',
    to: 'false',
    reason: 'the statement for many answers the same',
  },
  {
    path: 'src/store/sqlite/engine/read-transaction.ts',
    line: 'if (!database.open || !database.inTransaction) return',
    to: '&&',
    reason: 'a transaction that is not there cannot be committed, and nobody is told',
  },
  ...[
    ['const before = page.after + SHORT_LIST + 1', '-'],
    [
      'const isWhole = byteLength <= page.maxBytes && next.get(...rangeOf({ ...page, after: before - 1 })) === undefined',
      '<',
    ],
    ['if (isKnownShort(page) || isShort(page)) return { items: documentsOf(page), isCut: false }', 'false'],
    ['if (isKnownShort(page) || isShort(page)) return { items: documentsOf(page), isCut: false }', '&&'],
  ].map(([line = '', to = '']) => ({
    path: 'src/store/sqlite/engine/document-pages.ts',
    line,
    to,
    reason: 'a list that is not found to be short is read as any other',
  })),
  {
    path: 'src/store/sqlite/engine/swap-user.ts',
    line: "if (!found) throw new Error('what a replacement changes could not be counted')",
    to: 'false',
    reason: 'a count has a row',
  },
]
