// The PostgreSQL schema, entry 9: names of recently removed or renamed users, which the audit log stores as hashes
// only; and an index that finds known networks by age.

export const REMOVED_NAMES = `
-- who: as in an audit entry, never an email. Kept for a day: what processes still have waiting is written by then.
create table workspace_gateway.removed_name (
  who text collate "C" primary key,
  removed_at bigint not null
);
-- The networks that an address has not used for long are forgotten.
create index known_network_seen_at on workspace_gateway.known_network (seen_at);
`
