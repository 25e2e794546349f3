// The SQLite schema, entry 5: sign-in by mail and registered clients.

export const SIGN_IN = `
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
`
