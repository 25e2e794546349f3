// Converts databases of early development snapshots, from before entries 1 and 3 had their final shape, so that the
// later entries fit.
import type { Database } from 'better-sqlite3'
import { WORKSPACES } from './1-workspaces.ts'

/** Runs within the transaction of the migration. `version` is the schema version that the database states. */
export function adoptSnapshot(database: Database, version: number): void {
  if (version === 1 && !hasColumn(database, 'user', 'stamp')) rebuildWorkspaces(database)
  // Entry 4 creates an index of this name.
  if (version === 3) database.exec('drop index if exists session_email')
}

/** The first snapshots keyed documents by user, kind and position; later ones lacked the stamps. */
function rebuildWorkspaces(database: Database): void {
  const hasPositions = hasColumn(database, 'document', 'position')
  for (const { type, name } of namesOf(database, ['trigger', 'index'])) database.exec(`drop ${type} "${name}"`)
  for (const { name } of namesOf(database, ['table'])) database.exec(`alter table "${name}" rename to "old_${name}"`)
  database.exec(WORKSPACES)
  database.exec(hasPositions ? FROM_POSITIONS : FROM_KEYS)
  // Elements can be added only to a staged export, so every export was staged again first. Exports that were never
  // sealed are dropped: their imports were interrupted.
  database.exec(`
    delete from staged_export;
    insert or replace into sqlite_sequence (rowid, name, seq)
      select (select rowid from sqlite_sequence where name = 'user'), 'user', seq from sqlite_sequence where name = 'old_user';
    drop table old_export_element;
    drop table old_export;
    drop table old_document;
    drop table if exists old_staged_export;
    drop table old_session;
    drop table old_signing_key;
    drop table old_user`)
}

const COMMON = `
  insert into user (id, email, revision) select id, email, revision from old_user;
  insert into session select * from old_session;
  insert into signing_key select * from old_signing_key;`

const FROM_POSITIONS = `${COMMON}
  insert into document (key, user_id, kind, id, ref, text)
    select (user_id << 28) | (case kind when 'project' then 1 when 'template' then 2 else 3 end << 26) | position,
      user_id, kind, id, ref, text from old_document;
  insert into staged_export (id, stage, user_id, ref, created_at, instant, staged_at)
    select id, 'snapshot ' || id, user_id, ref, created_at, instant, 0 from old_export;
  insert into export_element (key, text)
    select (e.export_id << 24) | e.position, e.text from old_export_element e
      join old_export o on o.id = e.export_id and o.stage is null;
  insert into export (id, user_id, ref, created_at, instant, digest, byte_length, element_count)
    select id, user_id, ref, created_at, instant, digest, byte_length, element_count from old_export where stage is null;`

const FROM_KEYS = `${COMMON}
  insert into document (key, user_id, kind, id, ref, text) select key, user_id, kind, id, ref, text from old_document;
  insert into staged_export (id, stage, user_id, ref, created_at, instant, staged_at)
    select id, 'snapshot ' || id, user_id, ref, created_at, instant, 0 from old_export
    union all select id, stage, user_id, ref, created_at, instant, staged_at from old_staged_export;
  insert into export_element (key, text)
    select e.key, e.text from old_export_element e join old_export o on o.id = e.key >> 24;
  insert into export (id, user_id, ref, created_at, instant, digest, byte_length, element_count)
    select id, user_id, ref, created_at, instant, digest, byte_length, element_count from old_export;`

function hasColumn(database: Database, table: string, column: string): boolean {
  return database.prepare('select 1 from pragma_table_info(?) where name = ?').get(table, column) !== undefined
}

interface Named {
  readonly type: string
  readonly name: string
}

/** The schema objects that SQL created, without SQLite's internal ones. */
function namesOf(database: Database, types: readonly string[]): readonly Named[] {
  const all = database.prepare<[], Named>(`select type, name from sqlite_master where sql is not null`).all()
  return all.filter(({ type, name }) => types.includes(type) && !name.startsWith('sqlite_'))
}
