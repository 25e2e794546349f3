// The PostgreSQL schema, entry 10: an index that finds known networks by age.

export const KNOWN_NETWORK_AGE = `
-- Networks that an address has not used for long are removed.
create index known_network_seen_at on workspace_gateway.known_network (seen_at);
`
