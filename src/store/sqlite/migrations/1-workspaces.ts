// The SQLite schema, entry 1: users, sessions, signing keys, documents and exports.

export const WORKSPACES = `
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
`
