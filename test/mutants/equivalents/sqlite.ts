// Mutants of the SQLite adapter that nobody outside could notice.
import type { Equivalent } from './equivalent.ts'
import { SQLITE_ENGINE_EQUIVALENTS } from './sqlite-engine.ts'

export const SQLITE_EQUIVALENTS: readonly Equivalent[] = [
  ...SQLITE_ENGINE_EQUIVALENTS,
  ...['if (!faults.guard(() => isAsked.get())) return []', 'if (requests.length === 0) return []'].map((line) => ({
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
    line: 'const before = list.wasEmpty && !wasAdded ? undefined : stored.get(list.userId, list.kind, change.id)',
    to: 'false',
    reason: 'a document that cannot be there is looked for, and is not there',
  },
  {
    path: 'src/store/sqlite/upsert-documents.ts',
    line: 'if (waiting.length === ROWS_PER_INSERT) addWaiting()',
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
    path: 'src/store/sqlite/sign-in/outbox.ts',
    line: 'if (!faults.guard(() => isDue.get(now, now))) return []',
    to: 'false',
    reason: 'a transaction that leases nothing',
  },
  {
    path: 'src/store/sqlite/migrations.ts',
    line: "if (database.inTransaction) database.exec('rollback')",
    reason: 'whoever could not migrate closes the connection, which takes back the same',
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
    path: 'src/store/sqlite/backup.ts',
    line: 'if (newestAt !== writtenAt) pause(tookMs * PAUSE)',
    reason: 'a pause more or less is nothing but time',
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
  {
    path: 'src/store/sqlite/access/erase-traces.ts',
    line: 'const count = Math.ceil(text.length / PIECE_LENGTH)',
    to: '*',
    reason: 'pieces behind the end are too short, and left out',
  },
  {
    path: 'src/store/sqlite/access/erase-traces.ts',
    line: 'if (performance.now() > giveUpAt) {',
    to: '>=',
    reason: 'nobody counts the wait to the microsecond',
  },
  {
    path: 'src/store/sqlite/upsert-documents.ts',
    line: 'if (wasAdded) addWaiting()',
    to: 'true',
    reason: 'the same rows by more statements',
  },
  {
    path: 'src/store/sqlite/upsert-documents.ts',
    line: "if (rows.length === ROWS_PER_INSERT && !failsOnTakenRef(() => insert(rows))) return rows.map(() => 'added')",
    to: 'false',
    reason: 'the same rows by more statements',
  },
  {
    path: 'src/store/sqlite/import.ts',
    line: 'userIds.set(email, id)',
    reason: 'a user who is not remembered is looked up again, in the same state',
  },
  {
    path: 'src/store/sqlite/import.ts',
    line: 'const owner = known === undefined ? (readUser.get(email) ?? null) : known',
    to: 'true',
    reason: 'a user who is known is looked up again, in the same state',
  },
  {
    path: 'src/store/sqlite/import.ts',
    line: 'return owner === null ? null : (projectId.get(owner, ref) ?? null)',
    to: 'false',
    reason: 'nobody has no project',
  },
  {
    path: 'src/store/sqlite/connection.ts',
    line: 'export function openReader(path: string, file: FileIdentity, { isReadOnly = false } = {}): Database {',
    to: 'true',
    reason: 'while another connection writes, one that cannot reads the same',
  },
  {
    path: 'src/store/sqlite/connection.ts',
    line: 'const database = new SqliteDatabase(path, { timeout: 0, fileMustExist: true, readonly })',
    to: 'false',
    reason: 'the file is there: it was just looked at',
  },
  {
    path: 'src/store/sqlite/backup.ts',
    line: "const pages = Math.ceil(STEP_BYTES / Number(database.pragma('page_size', { simple: true })))",
    to: '*',
    reason: 'the same copy in one step',
  },
  {
    path: 'src/store/sqlite/backup.ts',
    line: `return statSync(\`\${path}-wal\`, { bigint: true, throwIfNoEntry: false })?.mtimeNs ?? null`,
    to: 'false',
    reason: 'a pause more or less is nothing but time',
  },
  {
    path: 'src/store/sqlite/backup.ts',
    line: `return statSync(\`\${path}-wal\`, { bigint: true, throwIfNoEntry: false })?.mtimeNs ?? null`,
    to: '&&',
    reason: 'a pause more or less is nothing but time',
  },
  {
    path: 'src/store/sqlite/backup.ts',
    line: 'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds)',
    reason: 'a pause more or less is nothing but time',
  },
  {
    path: 'src/store/sqlite/access/sessions.ts',
    line: 'return excess > 0 ? endIdlest.all(email, createdAt, createdAt + CLOCKS_DIFFER_MS, excess) : []',
    to: '>=',
    reason: 'none of them are ended',
  },
  {
    path: 'src/store/sqlite/import.ts',
    line: 'exports.set(change.stage, found)',
    reason: 'a stage that is not remembered is looked up again, and touched again',
  },
  {
    path: 'src/store/sqlite/import.ts',
    line: 'if (last?.[0] === change.type) last[1].push(change)',
    to: 'false',
    reason: 'the same steps, by more statements',
  },
  {
    path: 'src/store/sqlite/engine/faults/while-locked.ts',
    line: 'if (performance.now() - start > timeoutMs) {',
    to: '>=',
    reason: 'nobody counts the wait to the microsecond',
  },
]
