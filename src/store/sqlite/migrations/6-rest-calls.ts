// The SQLite schema, entry 6: the REST-call ledger.

export const REST_CALLS = `
create table rest_call (
  day text not null,
  route text not null,
  client text not null,
  count integer not null,
  last_seen integer not null,
  primary key (day, route, client)
) strict, without rowid;
-- The last batch of each process that counts: one whose answer was lost is not counted twice.
create table rest_call_writer (
  writer text primary key,
  sequence integer not null,
  day text not null
) strict, without rowid;
create index rest_call_writer_day on rest_call_writer (day);
`
