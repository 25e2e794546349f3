// The SQLite schema, entry 9: whom the audit log names by the hash only, since they were removed or renamed a moment ago.

export const REMOVED_NAMES = `
-- who: as in an audit entry, never an email. Kept for a day: what processes still have waiting is written by then.
create table removed_name (
  who text primary key,
  removed_at integer not null
) strict, without rowid;
`
