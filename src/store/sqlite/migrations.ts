// The SQLite schema, as an append-only list: entry n brings version n to n + 1. Never edit one that was released.
import type { Database } from 'better-sqlite3'
import { StoreOpenError } from '../contract.ts'

const MIGRATIONS: readonly string[] = [
  `
  -- A stamp names one state of one user for good: random, another one with every change.
  create table user (
    id integer primary key autoincrement,
    email text not null unique,
    revision integer not null default 1,
    stamp text not null default (hex(randomblob(8)))
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

  -- Clustered in the order lists are read in: the row id is made of user, kind and position (see keys.ts). A table
  -- without rowid with these as its key would be clustered too, but then every step of a search loads whole documents,
  -- overflow pages included, to compare their keys. No foreign keys, here and below: each would make every insert keep
  -- a statement journal; the triggers remove what a user leaves behind.
  create table document (
    key integer primary key,
    user_id integer not null check (user_id = key >> 28),
    kind text not null check (kind = case (key >> 26) & 3 when 1 then 'project' when 2 then 'template' when 3 then 'uiLibrary' end),
    id text not null,
    ref text check ((ref is not null) = (kind = 'project')),
    text text not null
  ) strict;
  create unique index document_id on document (user_id, kind, id);
  create unique index document_ref on document (user_id, ref);

  -- Exports that are being imported: nobody sees them.
  create table staged_export (
    id integer primary key autoincrement,
    stage text not null unique,
    user_id integer not null,
    ref text not null,
    created_at text not null,
    instant text not null,
    staged_at integer not null
  ) strict;

  -- Sealed under the id they were staged under, whole and immutable.
  create table export (
    id integer primary key,
    user_id integer not null,
    ref text not null,
    created_at text not null,
    instant text not null,
    digest text not null,
    byte_length integer not null,
    element_count integer not null
  ) strict;
  create unique index export_newest on export (user_id, ref, instant desc, id desc);
  create unique index export_same on export (user_id, ref, instant, digest);

  -- Clustered like documents: the row id is made of export and position.
  create table export_element (
    key integer primary key,
    text text not null
  ) strict;

  -- The revision grows with every change, whoever makes it: this program, another process, a hand in the shell.
  create trigger document_added after insert on document begin
    update user set revision = revision + 1, stamp = hex(randomblob(8)) where id = new.user_id;
  end;
  create trigger document_changed after update on document begin
    update user set revision = revision + 1, stamp = hex(randomblob(8)) where id in (old.user_id, new.user_id);
  end;
  create trigger document_removed after delete on document begin
    update user set revision = revision + 1, stamp = hex(randomblob(8)) where id = old.user_id;
  end;
  create trigger user_renamed after update of email on user begin
    update user set revision = revision + 1, stamp = hex(randomblob(8)) where id = new.id;
  end;
  create trigger user_removed after delete on user begin
    delete from document where user_id = old.id;
    delete from export where user_id = old.id;
    delete from staged_export where user_id = old.id;
  end;

  create trigger export_added after insert on export begin
    update user set revision = revision + 1, stamp = hex(randomblob(8)) where id = new.user_id;
  end;
  create trigger export_immutable before update on export begin
    select raise(abort, 'an export is immutable: delete it and import another');
  end;
  create trigger export_removed after delete on export begin
    delete from export_element where key > old.id << 24 and key < (old.id + 1) << 24;
    update user set revision = revision + 1, stamp = hex(randomblob(8)) where id = old.user_id;
  end;
  create trigger export_element_added before insert on export_element
    when not exists (select 1 from staged_export where id = new.key >> 24) begin
    select raise(abort, 'elements are added to a staged export only');
  end;
  create trigger export_element_immutable before update on export_element begin
    select raise(abort, 'an export is immutable: delete it and import another');
  end;
  create trigger export_element_removed before delete on export_element
    when exists (select 1 from export where id = old.key >> 24) begin
    select raise(abort, 'an export is immutable: delete it as a whole');
  end;
  `,
  `
  -- One row: where this database stands, and towards which other. What is changed during a move is noted, and while it is
  -- closed refused, by triggers that are there only as long as the move is (see moves.ts).
  create table move (
    one integer primary key check (one = 1),
    identity text not null,
    phase text not null default 'live'
      check (phase in ('live', 'filling', 'filled', 'copying', 'closed', 'moved')),
    move_id text,
    other text,
    closed_until integer not null default 0
  ) strict;
  insert into move (one, identity) values (1, lower(hex(randomblob(16))));
  create table move_change (kind text not null, key text not null, primary key (kind, key)) strict, without rowid;
  `,
  `
  -- A project takes its exports along, whoever removes it. Not while a move fills this database: that says itself what goes.
  create trigger project_removed after delete on document
    when old.kind = 'project' and (select phase from move) <> 'filling' begin
    delete from export where user_id = old.user_id and ref = old.ref;
  end;

  -- What an import with --replace brings, seen by nobody until it is swapped in. A replacement that is gone takes no steps.
  create table replacement (
    name text primary key,
    touched_at integer not null
  ) strict, without rowid;
  create table staged_user (
    id integer primary key autoincrement,
    replacement text not null,
    email text not null,
    unique (replacement, email)
  ) strict;
  -- Clustered like documents: the row id is made of staged user, kind and position.
  create table staged_document (
    key integer primary key,
    owner integer not null,
    kind text not null,
    id text not null,
    ref text,
    text text not null
  ) strict;
  create unique index staged_document_id on staged_document (owner, kind, id);
  -- Of a replacement: its staged user, and what it is sealed with.
  alter table staged_export add column owner integer;
  alter table staged_export add column digest text;
  alter table staged_export add column byte_length integer;
  alter table staged_export add column element_count integer;
  create index staged_export_owner on staged_export (owner) where owner is not null;
  -- No elements without an export.
  create trigger staged_export_removed after delete on staged_export
    when not exists (select 1 from export where id = old.id) begin
    delete from export_element where key > old.id << 24 and key < (old.id + 1) << 24;
  end;
  `,
  `
  -- What a user recognizes a session by. Sessions of before were last used when their idle expiry was last moved, which
  -- is not known: their login counts.
  alter table session add column last_used_at integer not null default 0;
  alter table session add column user_agent text not null default '';
  alter table session add column network text not null default '';
  update session set last_used_at = created_at;
  -- The first entry of an email is its session that was idle for longest.
  create index session_email on session (email, idle_expires_at);

  create table audit_entry (
    id integer primary key autoincrement,
    at integer not null,
    kind text not null,
    result text not null,
    who text not null,
    network text not null,
    detail text not null,
    count integer not null
  ) strict;
  create index audit_entry_at on audit_entry (at);
  create trigger audit_entry_immutable before update on audit_entry begin
    select raise(abort, 'the audit log is append-only');
  end;
  create table audit_salt (one integer primary key check (one = 1), salt text not null) strict;
  insert into audit_salt (one, salt) values (1, lower(hex(randomblob(16))));
  `,
  `
  -- Sign-in by mailed code. Requests are decided on after they were answered; what is decided goes to pending_sign_in, for
  -- every address, and to the outbox, for those that get a mail. Codes are never stored, not even in the outbox.
  create table code_request (
    id text primary key,
    email text not null,
    network text not null,
    agent text not null,
    kid text not null,
    code_hash text not null,
    is_eligible integer not null,
    asked_at integer not null
  ) strict, without rowid;
  create table pending_sign_in (
    email text not null,
    network text not null,
    id text not null unique,
    kid text not null,
    code_hash text not null,
    is_mailed integer not null,
    tries integer not null,
    expires_at integer not null,
    primary key (email, network)
  ) strict, without rowid;
  create index pending_sign_in_expires_at on pending_sign_in (expires_at);
  -- Keys are hashes.
  create table mail_quota (key text primary key, used integer not null, ends_at integer not null) strict, without rowid;
  create index mail_quota_ends_at on mail_quota (ends_at);
  create table known_network (key text primary key, address_key text not null, seen_at integer not null) strict, without rowid;
  create index known_network_of_address on known_network (address_key, seen_at);
  -- due_at is also the end of the lease of a mail that is being sent.
  create table outbox (
    id text primary key,
    email text not null,
    network text not null,
    agent text not null,
    kid text not null,
    asked_at integer not null,
    expires_at integer not null,
    due_at integer not null,
    attempts integer not null default 0,
    leased_by text
  ) strict, without rowid;
  create index outbox_due_at on outbox (due_at);

  -- Back ends that sign their users in. Lists are separated by commas.
  create table client (
    name text primary key,
    secret_hash text not null,
    domains text not null,
    scopes text not null,
    per_minute integer not null,
    created_at integer not null
  ) strict, without rowid;
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
