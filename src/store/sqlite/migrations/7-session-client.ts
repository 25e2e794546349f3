// The SQLite schema, entry 7: the registered client that opened a session.

export const SESSION_CLIENT = `
alter table session add column client text not null default '';
`
