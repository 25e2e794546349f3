// The SQLite schema, entry 4: the details of sessions, and the audit log.

export const SESSIONS = `
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
`
