// Of the folder `store`, what is remembered, and how: mutants that nobody outside could tell from it.
import type { Equivalent } from './equivalent.ts'

/** Lines of PostgreSQL that leave out a statement where there is nothing to ask it for. */
const LEAVES_OUT_A_STATEMENT: readonly (readonly [path: string, line: string])[] = [
  [
    'access/sessions.ts',
    'return full.length === 0 ? [] : connection.query<OwnedSession & object>(END_IDLEST, [full, now, maxPerUser])',
  ],
  ['copies/row-copies.ts', 'return copies.length === 0 ? [] : QUERIES[type](copies)'],
  ['engine/replica.ts', 'const newer = (others.length === 0 ? [] : await askPrimary(others)).values()'],
  ['import.ts', 'if (staging.length > 0) await stageExports(connection, staging, userIds)'],
  [
    'import.ts',
    'const stages = stageNames.length > 0 ? await requireStages(connection, stageNames) : new Map<string, Stage>()',
  ],
  ['import.ts', 'if (sealing.length > 0) setAll(outcomes, sealing, await sealExports(connection, sealing, stages))'],
  ['import.ts', 'if (putting.length > 0) setAll(outcomes, putting, await putDocuments(connection, putting, userIds))'],
  ['import.ts', 'if (unchanged.length > 0) {'],
  ['reads.ts', 'if (questions.length === 0) return []'],
  ['removals.ts', 'if (ids.length > 0) await connection.query(PRUNE, [userId, ids])'],
  [
    'replacements.ts',
    'if (documents.length > 0) await stageDocuments(connection, documents, (email) => ownerOf(email).id)',
  ],
  ['replacements.ts', 'if (exports.length > 0) {'],
  ['replacements.ts', 'if (emails.length === 0) return new Map<string, StagedUser>()'],
  ['replacements.ts', 'if (rows.length === 0) return 0'],
  ['upsert-documents.ts', 'if (rows.length === 0) return'],
  ['upsert-documents.ts', 'if (asking.length === 0) return new Map<string, string>()'],
  ['upsert-documents.ts', 'if (adding.length === 0) return new Map<string, number>()'],
]

export const STORE_EQUIVALENTS: readonly Equivalent[] = [
  ...LEAVES_OUT_A_STATEMENT.flatMap(([path, line]) =>
    (line.includes('=== 0') ? ['false'] : ['true', '>=']).map((to) => ({
      path: `src/store/postgres/${path}`,
      line,
      to,
      reason: 'the same, with a statement more for none',
    })),
  ),
  ...['if (!isAsked.get()) return []', 'if (requests.length === 0) return []'].map((line) => ({
    path: 'src/store/sqlite/sign-in/codes.ts',
    line,
    to: 'false',
    reason: 'a transaction that decides nothing',
  })),
  {
    path: 'src/store/sqlite/sign-in/codes.ts',
    line: '.toSorted((a, b) => (a.id < b.id ? -1 : 1))',
    to: '<=',
    reason: 'no two have the same id',
  },
  {
    path: 'src/store/sqlite/sign-in/codes.ts',
    line: '.toSorted((a, b) => (a.id < b.id ? -1 : 1))',
    to: 'false',
    reason: 'the rows come in the order of their ids, which SQLite does not promise',
  },
  {
    path: 'src/store/sqlite/import.ts',
    line: 'owners.set(email, owner)',
    reason: 'a user who is not remembered is looked up again, in the same state',
  },
  {
    path: 'src/store/sqlite/upsert-documents.ts',
    line: 'const before = list.wasEmpty && !wasAdded ? undefined : stored.get(list.owner, list.kind, change.id)',
    to: 'false',
    reason: 'a document that cannot be there is looked for, and is not there',
  },
  {
    path: 'src/store/sqlite/upsert-documents.ts',
    line: 'if (waiting.length === ROWS_PER_INSERT) addWaiting()',
    to: 'true',
    reason: 'the same rows by more statements',
  },
  {
    path: 'src/store/sqlite/import.ts',
    line: 'if (!exports.has(change.stage)) touch.run(change.now, found.id)',
    to: 'true',
    reason: 'what was touched already is touched again',
  },
  {
    path: 'src/store/sqlite/open.ts',
    line: 'turn.refresh()',
    reason: 'a connection that is closed ends its transaction, too',
  },
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
    path: 'src/store/sqlite/sign-in/outbox.ts',
    line: 'if (!isDue.get(now, now)) return []',
    to: 'false',
    reason: 'a transaction that leases nothing',
  },
  {
    path: 'src/store/cutover/cutover-store.ts',
    line: 'else if (error instanceof StoreClosedError && performance.now() < giveUpAt) await whileClosed(refusedBy, giveUpAt)',
    from: 'await whileClosed(refusedBy, giveUpAt)',
    reason: 'whoever does not wait asks again at once, until the same moment',
  },
  {
    path: 'src/store/sqlite/migrations.ts',
    line: "if (database.inTransaction) database.exec('rollback')",
    reason: 'whoever could not migrate closes the connection, which takes back the same',
  },
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
  {
    path: 'src/store/sqlite/access/sessions.ts',
    line: 'if (mayHaveExpired)',
    to: 'true',
    reason: 'what has expired is looked for once more, and there is none',
  },
  {
    path: 'src/store/sqlite/access/sessions.ts',
    line: 'if (maxPerUser < Number.POSITIVE_INFINITY) ended.push(...endBeyond(maxPerUser, session))',
    from: '<',
    reason: 'no number of sessions is beyond a limit that is none',
  },
  {
    path: 'src/store/sqlite/access/sessions.ts',
    line: 'if (maxPerUser < Number.POSITIVE_INFINITY) ended.push(...endBeyond(maxPerUser, session))',
    to: 'true',
    reason: 'no number of sessions is beyond a limit that is none',
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
  {
    path: 'src/store/postgres/import.ts',
    line: "if (!stage) throw new Error('a staged export was not locked')",
    to: 'false',
    reason: 'a stage that is gone was refused when they were locked',
  },
]
