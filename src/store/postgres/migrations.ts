// The PostgreSQL schema, as an append-only list: entry n brings version n to n + 1. Never edit one that was released.

import { StoreOpenError } from '../contract.ts'
import { CLOSED_MESSAGE, MAX_CLOSED_MS, MOVED_MESSAGE } from '../cutover/contract.ts'
import type { Connection } from './connection.ts'
import { SQLSTATE_CLOSED, SQLSTATE_MOVED } from './engine/pg-errors.ts'

/** Shared by every write during a move, held alone by its closing. */
export const MOVE_LOCK = 0x57_53_47_4d

const MIGRATIONS: readonly string[] = [
  `
  -- Everything that grows with the workspaces has a key that starts with the user, so document, export and
  -- export_element can be hash-partitioned, or distributed, by user_id. Texts compare by bytes, as in SQLite.

  -- Names have any length, index entries have not: indexes hold this in their place.
  create function workspace_gateway.key_of(name text) returns bytea
    language sql immutable strict parallel safe as $$ select sha256(convert_to(name, 'UTF8')) $$;

  -- A stamp names one state of one user for good: random, another one with every change.
  create table workspace_gateway.user (
    id bigint generated always as identity primary key,
    email text collate "C" not null unique,
    revision bigint not null default 1,
    stamp text not null default gen_random_uuid()::text
  ) with (fillfactor = 80);

  -- A session knows an email, not a user: signing in before there is a workspace is allowed.
  create table workspace_gateway.session (
    id text collate "C" primary key,
    email text collate "C" not null,
    refresh_hash bytea not null unique,
    created_at bigint not null,
    idle_expires_at bigint not null,
    expires_at bigint not null
  );
  create index session_idle_expires_at on workspace_gateway.session (idle_expires_at);

  create table workspace_gateway.signing_key (
    kid text collate "C" primary key,
    private_jwk text not null,
    created_at bigint not null
  );

  -- text, not jsonb: what is stored is what is served, byte for byte.
  create table workspace_gateway.document (
    user_id bigint not null,
    kind text collate "C" not null check (kind in ('project', 'template', 'uiLibrary')),
    position integer not null,
    id text collate "C" not null,
    ref text collate "C" check ((ref is not null) = (kind = 'project')),
    text text not null,
    primary key (user_id, kind, position)
  );
  create unique index document_id on workspace_gateway.document (user_id, kind, workspace_gateway.key_of(id));
  create unique index document_ref on workspace_gateway.document (user_id, workspace_gateway.key_of(ref))
    where ref is not null;

  -- Exports that are being imported: nobody sees them.
  create table workspace_gateway.staged_export (
    id bigint generated always as identity primary key,
    stage text collate "C" not null unique,
    user_id bigint not null,
    ref text collate "C" not null,
    created_at text not null,
    instant text collate "C" not null,
    staged_at bigint not null
  );

  -- Sealed under the id they were staged under, whole and immutable.
  create table workspace_gateway.export (
    user_id bigint not null,
    id bigint not null,
    ref text collate "C" not null,
    created_at text not null,
    instant text collate "C" not null,
    digest text collate "C" not null,
    byte_length bigint not null,
    element_count integer not null,
    primary key (user_id, id)
  );
  create index export_newest on workspace_gateway.export
    (user_id, workspace_gateway.key_of(ref), instant desc, id desc);
  create unique index export_same on workspace_gateway.export
    (user_id, workspace_gateway.key_of(ref), instant, digest);

  create table workspace_gateway.export_element (
    user_id bigint not null,
    export_id bigint not null,
    position integer not null,
    text text not null,
    primary key (user_id, export_id, position)
  );

  -- The revision grows with every change, whoever makes it: this program, another process, a hand in psql.
  create function workspace_gateway.move_revision() returns trigger language plpgsql as $$
  begin
    if tg_op = 'TRUNCATE' then
      update workspace_gateway.user set revision = revision + 1, stamp = gen_random_uuid()::text;
    elsif tg_op = 'UPDATE' then
      update workspace_gateway.user set revision = revision + 1, stamp = gen_random_uuid()::text
        where id in (select user_id from changed union select user_id from before);
    else
      update workspace_gateway.user set revision = revision + 1, stamp = gen_random_uuid()::text
        where id in (select user_id from changed);
    end if;
    return null;
  end $$;
  create trigger document_added after insert on workspace_gateway.document
    referencing new table as changed for each statement execute function workspace_gateway.move_revision();
  create trigger document_changed after update on workspace_gateway.document
    referencing new table as changed old table as before
    for each statement execute function workspace_gateway.move_revision();
  create trigger document_removed after delete on workspace_gateway.document
    referencing old table as changed for each statement execute function workspace_gateway.move_revision();
  create trigger document_emptied after truncate on workspace_gateway.document
    for each statement execute function workspace_gateway.move_revision();
  create trigger export_added after insert on workspace_gateway.export
    referencing new table as changed for each statement execute function workspace_gateway.move_revision();

  create function workspace_gateway.user_renamed() returns trigger language plpgsql as $$
  begin
    new.revision := greatest(new.revision, old.revision + 1);
    new.stamp := gen_random_uuid()::text;
    return new;
  end $$;
  create trigger user_renamed before update on workspace_gateway.user for each row
    when (old.email is distinct from new.email) execute function workspace_gateway.user_renamed();
  create function workspace_gateway.user_removed() returns trigger language plpgsql as $$
  begin
    delete from workspace_gateway.document where user_id in (select id from changed);
    delete from workspace_gateway.export where user_id in (select id from changed);
    delete from workspace_gateway.staged_export where user_id in (select id from changed);
    return null;
  end $$;
  create trigger user_removed after delete on workspace_gateway.user
    referencing old table as changed for each statement execute function workspace_gateway.user_removed();

  create function workspace_gateway.refuse() returns trigger language plpgsql as $$
  begin
    raise exception 'an export is immutable: delete it and import another';
  end $$;
  create trigger export_immutable before update or truncate on workspace_gateway.export
    for each statement execute function workspace_gateway.refuse();
  create function workspace_gateway.export_removed() returns trigger language plpgsql as $$
  begin
    delete from workspace_gateway.export_element e using changed c where (e.user_id, e.export_id) = (c.user_id, c.id);
    update workspace_gateway.user set revision = revision + 1, stamp = gen_random_uuid()::text where id in (select user_id from changed);
    return null;
  end $$;
  create trigger export_removed after delete on workspace_gateway.export
    referencing old table as changed for each statement execute function workspace_gateway.export_removed();

  create function workspace_gateway.element_added() returns trigger language plpgsql as $$
  begin
    if exists (select 1 from changed c where not exists
        (select 1 from workspace_gateway.staged_export s where (s.user_id, s.id) = (c.user_id, c.export_id))) then
      raise exception 'elements are added to a staged export only';
    end if;
    return null;
  end $$;
  create trigger element_added after insert on workspace_gateway.export_element
    referencing new table as changed for each statement execute function workspace_gateway.element_added();
  create trigger element_immutable before update or truncate on workspace_gateway.export_element
    for each statement execute function workspace_gateway.refuse();
  create function workspace_gateway.element_removed() returns trigger language plpgsql as $$
  begin
    if exists (select 1 from changed c join workspace_gateway.export e
        on (e.user_id, e.id) = (c.user_id, c.export_id)) then
      raise exception 'an export is immutable: delete it as a whole';
    end if;
    return null;
  end $$;
  create trigger element_removed after delete on workspace_gateway.export_element
    referencing old table as changed for each statement execute function workspace_gateway.element_removed();
  `,
  `
  -- One row: where this database stands, and towards which other. What is changed during a move is noted, and while it is
  -- closed refused, by triggers that are there only as long as the move is (see moves.ts).
  create table workspace_gateway.move (
    one integer primary key default 1 check (one = 1),
    identity text not null default replace(gen_random_uuid()::text, '-', ''),
    phase text not null default 'live'
      check (phase in ('live', 'filling', 'filled', 'copying', 'closed', 'moved')),
    move_id text,
    other text,
    closed_until bigint not null default 0
  );
  insert into workspace_gateway.move default values;
  -- Several notes of one change do no harm, and nobody waits for whoever else makes one.
  create table workspace_gateway.move_change (kind text not null, key text not null);

  create function workspace_gateway.note_move_change() returns trigger language plpgsql as $$
  begin
    insert into workspace_gateway.move_change
      select distinct tg_table_name, key from unnest(array[to_jsonb(old)->>tg_argv[0], to_jsonb(new)->>tg_argv[0]]) as key
      where key is not null;
    return null;
  end $$;

  -- Closing waits for the shared lock of every write that is under way: each is noted before, or refused after.
  create function workspace_gateway.guard_move() returns trigger language plpgsql as $$
  declare
    found_phase text;
    is_closed boolean;
  begin
    perform pg_advisory_xact_lock_shared(${MOVE_LOCK});
    if current_setting('transaction_isolation') <> 'read committed' then
      -- An older snapshot would not see the closing: this fails then.
      perform 1 from workspace_gateway.move for share;
    end if;
    select phase, closed_until between now.ms and now.ms + ${MAX_CLOSED_MS} into found_phase, is_closed
      from workspace_gateway.move, (select (extract(epoch from clock_timestamp()) * 1000)::bigint as ms) now;
    if found_phase = 'closed' and not is_closed then
      update workspace_gateway.move set phase = 'copying' where phase = 'closed';
      select phase into found_phase from workspace_gateway.move;
    end if;
    if found_phase = 'moved' then
      raise exception using errcode = '${SQLSTATE_MOVED}', message = '${MOVED_MESSAGE}';
    elsif found_phase = 'closed' then
      raise exception using errcode = '${SQLSTATE_CLOSED}', message = '${CLOSED_MESSAGE}';
    elsif tg_op = 'TRUNCATE' and tg_table_name in ('user', 'session', 'signing_key') then
      raise exception 'not while the database is being moved';
    end if;
    return null;
  end $$;
  `,
  `
  -- A project takes its exports along, whoever removes it. Not while a move fills this database: that says itself what goes.
  create function workspace_gateway.project_removed() returns trigger language plpgsql as $$
  begin
    if (select phase from workspace_gateway.move) <> 'filling' then
      delete from workspace_gateway.export e using changed c
        where c.kind = 'project' and e.user_id = c.user_id
          and workspace_gateway.key_of(e.ref) = workspace_gateway.key_of(c.ref);
    end if;
    return null;
  end $$;
  create trigger project_removed after delete on workspace_gateway.document
    referencing old table as changed for each statement execute function workspace_gateway.project_removed();

  -- What an import with --replace brings, seen by nobody until it is swapped in. A replacement that is gone takes no steps.
  create table workspace_gateway.replacement (
    name text collate "C" primary key,
    touched_at bigint not null
  );
  -- user_id: of the user, or the id that is put by for one who is not there yet. Its exports are stored under it.
  create table workspace_gateway.staged_user (
    id bigint generated always as identity primary key,
    replacement text collate "C" not null,
    email text collate "C" not null,
    user_id bigint not null,
    unique (replacement, email)
  );
  create table workspace_gateway.staged_document (
    owner bigint not null,
    kind text collate "C" not null,
    position integer not null,
    id text collate "C" not null,
    ref text collate "C",
    text text not null,
    primary key (owner, kind, position)
  );
  create unique index staged_document_id
    on workspace_gateway.staged_document (owner, kind, workspace_gateway.key_of(id));
  -- Of a replacement: its staged user, and what it is sealed with.
  alter table workspace_gateway.staged_export
    add column owner bigint, add column digest text collate "C", add column byte_length bigint, add column element_count integer;
  create index staged_export_owner on workspace_gateway.staged_export (owner) where owner is not null;
  create or replace function workspace_gateway.user_removed() returns trigger language plpgsql as $$
  begin
    delete from workspace_gateway.document where user_id in (select id from changed);
    delete from workspace_gateway.export where user_id in (select id from changed);
    delete from workspace_gateway.export_element e using workspace_gateway.staged_export s
      where s.user_id in (select id from changed) and s.owner is null
        and (e.user_id, e.export_id) = (s.user_id, s.id);
    delete from workspace_gateway.staged_export where user_id in (select id from changed) and owner is null;
    return null;
  end $$;
  `,
  `
  -- What a user recognizes a session by. Sessions of before were last used when their idle expiry was last moved, which
  -- is not known: their login counts.
  alter table workspace_gateway.session
    add column last_used_at bigint not null default 0,
    add column user_agent text not null default '',
    add column network text not null default '';
  update workspace_gateway.session set last_used_at = created_at;
  -- The first entry of an email is its session that was idle for longest.
  create index session_email on workspace_gateway.session (email, idle_expires_at);

  create table workspace_gateway.audit_entry (
    id bigint generated always as identity primary key,
    at bigint not null,
    kind text collate "C" not null,
    result text collate "C" not null,
    who text collate "C" not null,
    network text collate "C" not null,
    detail text not null,
    count integer not null
  );
  create index audit_entry_at on workspace_gateway.audit_entry (at);
  create function workspace_gateway.audit_entry_immutable() returns trigger language plpgsql as $$
  begin
    raise exception 'the audit log is append-only';
  end $$;
  create trigger audit_entry_immutable before update on workspace_gateway.audit_entry
    for each statement execute function workspace_gateway.audit_entry_immutable();
  create table workspace_gateway.audit_salt (
    one integer primary key default 1 check (one = 1),
    salt text not null default replace(gen_random_uuid()::text, '-', '')
  );
  insert into workspace_gateway.audit_salt default values;
  `,
  `
  -- Sign-in by mailed code. Requests are decided on after they were answered; what is decided goes to pending_sign_in, for
  -- every address, and to the outbox, for those that get a mail. Codes are never stored, not even in the outbox.
  create table workspace_gateway.code_request (
    id text collate "C" primary key,
    email text collate "C" not null,
    network text collate "C" not null,
    agent text not null,
    kid text collate "C" not null,
    code_hash text collate "C" not null,
    is_eligible boolean not null,
    asked_at bigint not null
  );
  create table workspace_gateway.pending_sign_in (
    email text collate "C" not null,
    network text collate "C" not null,
    id text collate "C" not null unique,
    kid text collate "C" not null,
    code_hash text collate "C" not null,
    is_mailed boolean not null,
    tries integer not null,
    expires_at bigint not null,
    primary key (email, network)
  );
  create index pending_sign_in_expires_at on workspace_gateway.pending_sign_in (expires_at);
  -- Keys are hashes.
  create table workspace_gateway.mail_quota (
    key text collate "C" primary key, used bigint not null, ends_at bigint not null
  );
  create index mail_quota_ends_at on workspace_gateway.mail_quota (ends_at);
  create table workspace_gateway.known_network (
    key text collate "C" primary key, address_key text collate "C" not null, seen_at bigint not null
  );
  create index known_network_of_address on workspace_gateway.known_network (address_key, seen_at);
  -- due_at is also the end of the lease of a mail that is being sent.
  create table workspace_gateway.outbox (
    id text collate "C" primary key,
    email text collate "C" not null,
    network text collate "C" not null,
    agent text not null,
    kid text collate "C" not null,
    asked_at bigint not null,
    expires_at bigint not null,
    due_at bigint not null,
    attempts integer not null default 0,
    leased_by text collate "C"
  );
  create index outbox_due_at on workspace_gateway.outbox (due_at);

  -- Back ends that sign their users in. Lists are separated by commas.
  create table workspace_gateway.client (
    name text collate "C" primary key,
    secret_hash text collate "C" not null,
    domains text not null,
    scopes text not null,
    per_minute integer not null,
    created_at bigint not null
  );
  `,
]

/** Gateways that start at once take turns. */
const LOCK = 0x57_53_47_57

/** Brings the database to this program's version, in one transaction that also keeps out other starting processes. */
export async function migrate(connection: Connection, mustExist: boolean): Promise<void> {
  await requireUtf8(connection)
  const found = await versionOf(connection)
  if (found === MIGRATIONS.length) return
  if (found === null && mustExist) throw new StoreOpenError('there is nothing of this program in the database')
  await connection.script(`begin; select pg_advisory_xact_lock(${LOCK})`)
  try {
    const version = await versionOf(connection)
    if (version === null) {
      await connection.script(`
        create schema if not exists workspace_gateway;
        create table workspace_gateway.schema_version (version integer not null);
        insert into workspace_gateway.schema_version values (0)`)
    } else if (version > MIGRATIONS.length) {
      throw new StoreOpenError(
        `the database has schema version ${version}, this program knows ${MIGRATIONS.length}: use a newer version of it`,
      )
    }
    for (const migration of MIGRATIONS.slice(version ?? 0)) await connection.script(migration)
    await connection.script(`update workspace_gateway.schema_version set version = ${MIGRATIONS.length}; commit`)
  } catch (error) {
    if (!connection.isLost()) await connection.script('rollback')
    throw error
  }
}

/** Null when nothing of this program is there. */
async function versionOf(connection: Connection): Promise<number | null> {
  const [found] = await connection.script(`
    select to_regnamespace('workspace_gateway') is not null as "hasSchema",
      to_regclass('workspace_gateway.schema_version') is not null as "hasVersion",
      exists (select 1 from pg_class where relnamespace = to_regnamespace('workspace_gateway')) as "hasTables"`)
  if (found?.hasVersion !== 't') {
    if (found?.hasTables === 't') throw new StoreOpenError('the schema workspace_gateway is of another program')
    return null
  }
  const [row] = await connection.script('select version from workspace_gateway.schema_version')
  return Number(row?.version)
}

async function requireUtf8(connection: Connection): Promise<void> {
  const [row] = await connection.script(`select current_setting('server_encoding') as encoding`)
  if (row?.encoding !== 'UTF8') throw new StoreOpenError('the database must have the encoding UTF8')
}
