// The SQLite schema, entry 9: recently removed or renamed users, whom the audit log may name only by their hash.

export const REMOVED_NAMES = `
-- who: as in an audit entry, never an email. Kept for a day: what processes still have waiting is written by then.
create table removed_name (
  who text primary key,
  removed_at integer not null
) strict, without rowid;
`
