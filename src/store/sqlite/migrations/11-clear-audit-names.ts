// The SQLite schema, entry 11: an index that finds the entries of the audit log that name an email in clear.

export const CLEAR_AUDIT_NAMES = `
-- Whoever removes a user hashes the email in all entries. Most entries have a hash or no name, and are not in the index.
create index audit_entry_clear_name on audit_entry (who)
  where who <> '' and substr(who, 1, 12) <> 'hmac-sha256:';
`
