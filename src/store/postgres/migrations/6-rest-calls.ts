// The PostgreSQL schema, entry 6: the ledger of REST calls.

export const REST_CALLS = `
create table workspace_gateway.rest_call (
  day text collate "C" not null,
  route text collate "C" not null,
  client text collate "C" not null,
  count bigint not null,
  last_seen bigint not null,
  primary key (day, route, client)
);
-- The last batch of each process that counts: one whose answer was lost is not counted twice.
create table workspace_gateway.rest_call_writer (
  writer text collate "C" primary key,
  sequence bigint not null,
  day text collate "C" not null
);
create index rest_call_writer_day on workspace_gateway.rest_call_writer (day);
`
