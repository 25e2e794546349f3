// The SQLite schema, entry 3: removal and replacement.

export const REMOVAL = `
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
`
