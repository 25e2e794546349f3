// The SQLite schema, entry 7: which registered client opened a session.

export const SESSION_CLIENT = `
alter table session add column client text not null default '';
`
