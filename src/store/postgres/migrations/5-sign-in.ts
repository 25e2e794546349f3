// The PostgreSQL schema, entry 5: sign-in by mail and registered clients.

export const SIGN_IN = `
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
`
