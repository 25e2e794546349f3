// The PostgreSQL schema, entry 9: names of recently removed or renamed users, which the audit log stores as hashes
// only.

export const REMOVED_NAMES = `
-- who: as in an audit entry, never an email. Kept for a day: what processes still have waiting is written by then.
create table workspace_gateway.removed_name (
  who text collate "C" primary key,
  removed_at bigint not null
);
`
