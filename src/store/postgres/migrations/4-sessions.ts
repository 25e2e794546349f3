// The PostgreSQL schema, entry 4: the last use, user agent and network of sessions, and the audit log.

export const SESSIONS = `
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
`
