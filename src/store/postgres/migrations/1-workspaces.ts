// The PostgreSQL schema, entry 1, the initial one: users, sessions, keys, documents, exports.

export const WORKSPACES = `
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
`
