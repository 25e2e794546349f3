// The PostgreSQL schema, entry 7: which registered client opened a session.

export const SESSION_CLIENT = `
alter table workspace_gateway.session add column client text not null default '';
`
