// The PostgreSQL schema, entry 3: removal and replacement.

export const REMOVAL = `
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
`
