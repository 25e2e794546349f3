// The SQLite schema, as an append-only list: entry n brings version n to n + 1. Never edit one that was released.
import type { Database } from 'better-sqlite3'
import { StoreOpenError } from '../store.ts'

const MIGRATIONS: readonly string[] = [
  `
  -- AUTOINCREMENT: an id is never used twice, so (user, revision) never names two states.
  create table user (
    id integer primary key autoincrement,
    email text not null unique,
    revision integer not null default 1
  ) strict;

  -- A session knows an email, not a user: signing in before there is a workspace is allowed.
  create table session (
    id text primary key,
    email text not null,
    refresh_hash blob not null unique,
    created_at integer not null,
    idle_expires_at integer not null,
    expires_at integer not null
  ) strict, without rowid;
  create index session_idle_expires_at on session (idle_expires_at);

  create table signing_key (
    kid text primary key,
    private_jwk text not null,
    created_at integer not null
  ) strict, without rowid;

  -- Clustered in the order lists are read in.
  create table document (
    user_id integer not null references user (id) on delete cascade,
    kind text not null check (kind in ('project', 'template', 'uiLibrary')),
    position integer not null check (position > 0),
    id text not null,
    ref text check ((ref is not null) = (kind = 'project')),
    text text not null,
    primary key (user_id, kind, position)
  ) strict, without rowid;
  create unique index document_id on document (user_id, kind, id);
  create unique index document_ref on document (user_id, ref) where ref is not null;

  -- Staged while \`stage\` is set, whole and immutable from then on.
  create table export (
    id integer primary key autoincrement,
    user_id integer not null references user (id) on delete cascade,
    ref text not null,
    created_at text not null,
    instant text not null,
    digest text,
    byte_length integer,
    element_count integer,
    stage text unique,
    staged_at integer,
    check ((stage is null) = (digest is not null and byte_length is not null and element_count is not null))
  ) strict;
  create unique index export_newest on export (user_id, ref, instant desc, id desc) where stage is null;
  create unique index export_same on export (user_id, ref, instant, digest) where stage is null;

  create table export_element (
    user_id integer not null,
    export_id integer not null,
    position integer not null check (position > 0),
    text text not null,
    primary key (user_id, export_id, position)
  ) strict, without rowid;

  -- The revision grows with every change, whoever makes it: this program, another process, a hand in the shell.
  create trigger document_added after insert on document begin
    update user set revision = revision + 1 where id = new.user_id;
  end;
  create trigger document_changed after update on document begin
    update user set revision = revision + 1 where id in (old.user_id, new.user_id);
  end;
  create trigger document_removed after delete on document begin
    update user set revision = revision + 1 where id = old.user_id;
  end;
  create trigger user_renamed after update of email on user begin
    update user set revision = revision + 1 where id = new.id;
  end;
  create trigger revision_grows before update of revision on user when new.revision <= old.revision begin
    select raise(abort, 'a revision only grows');
  end;
  -- The shell does not enforce foreign keys unless told to.
  create trigger user_removed after delete on user begin
    delete from document where user_id = old.id;
    delete from export where user_id = old.id;
  end;

  create trigger export_added after insert on export when new.stage is null begin
    update user set revision = revision + 1 where id = new.user_id;
  end;
  create trigger export_sealed after update on export when old.stage is not null and new.stage is null begin
    update user set revision = revision + 1 where id = new.user_id;
  end;
  create trigger export_immutable before update on export when old.stage is null begin
    select raise(abort, 'an export is immutable: delete it and import another');
  end;
  create trigger export_removed after delete on export begin
    delete from export_element where user_id = old.user_id and export_id = old.id;
    update user set revision = revision + 1 where id = old.user_id and old.stage is null;
  end;
  create trigger export_element_added before insert on export_element
    when not exists (select 1 from export where id = new.export_id and user_id = new.user_id and stage is not null) begin
    select raise(abort, 'elements are added to a staged export only');
  end;
  create trigger export_element_immutable before update on export_element begin
    select raise(abort, 'an export is immutable: delete it and import another');
  end;
  create trigger export_element_removed before delete on export_element
    when exists (select 1 from export where id = old.export_id and stage is null) begin
    select raise(abort, 'an export is immutable: delete it as a whole');
  end;
  `,
]

/** Marks the file as ours (\`PRAGMA application_id\`): "WSGW". */
const APPLICATION_ID = 0x57534757

/** Brings the database to this program's version, in one transaction that also keeps out other starting processes. */
export function migrate(database: Database): void {
  database.exec('begin immediate')
  try {
    const version = database.pragma('user_version', { simple: true }) as number
    const applicationId = database.pragma('application_id', { simple: true }) as number
    if (applicationId !== APPLICATION_ID && (applicationId !== 0 || hasTables(database))) {
      throw new StoreOpenError('the file is an SQLite database of another program')
    }
    if (version > MIGRATIONS.length) {
      throw new StoreOpenError(
        `the database has schema version ${version}, this program knows ${MIGRATIONS.length}: use a newer version of it`,
      )
    }
    for (const migration of MIGRATIONS.slice(version)) database.exec(migration)
    database.pragma(`application_id = ${APPLICATION_ID}`)
    database.pragma(`user_version = ${MIGRATIONS.length}`)
    database.exec('commit')
  } catch (error) {
    if (database.inTransaction) database.exec('rollback')
    throw error
  }
}

function hasTables(database: Database): boolean {
  return database.prepare('select 1 from sqlite_master limit 1').get() !== undefined
}
