// Mutants of SQL that nobody outside could notice.
import type { Equivalent } from './equivalent.ts'

const READS_TOO_MUCH = 'rows that nobody asked for are read, and then left out'

export const SQL_EQUIVALENTS: readonly Equivalent[] = [
  {
    path: 'src/store/postgres/access/sessions.ts',
    line: 'from workspace_gateway.session s left join workspace_gateway.user u on u.email = s.email where s.id = any($1::text[])`,',
    from: 's.id = any($1::text[])',
    reason: READS_TOO_MUCH,
  },
  {
    path: 'src/store/postgres/access/sessions.ts',
    line: 'from workspace_gateway.session where refresh_hash = any($1::bytea[])`,',
    reason: READS_TOO_MUCH,
  },
  ...['s.email = asked.email', 's.idle_expires_at > $11', '>', ''].map((from) => ({
    path: 'src/store/postgres/access/sessions.ts',
    line: 'select count(*) from workspace_gateway.session s where s.email = asked.email and s.idle_expires_at > $11) as count',
    from,
    reason: 'a count that is too high makes a call look again, and then it finds nothing to end',
  })),
  {
    path: 'src/store/postgres/access/sessions.ts',
    line: 'where $12::boolean`,',
    reason: 'a count that nobody needs',
  },
  {
    path: 'src/store/postgres/sign-in/codes.ts',
    line: 'join workspace_gateway.pending_sign_in p on (p.email, p.network) = (asked.email, asked.network)`,',
    from: '(p.email, p.network) = (asked.email, asked.network)',
    reason: READS_TOO_MUCH,
  },
  {
    path: 'src/store/sqlite/sign-in/codes.ts',
    line: `(select id from outbox where due_at > ? and expires_at > ? limit \${PURGED_PER_DECISION})\`,`,
    from: 'due_at > ?',
    reason: 'a mail that expires that late is due that late, too',
  },
  {
    path: 'src/store/sqlite/migrations/3-removal.ts',
    line: "when old.kind = 'project' and (select phase from move) <> 'filling' begin",
    from: "old.kind = 'project'",
    reason: 'nothing else has a reference',
  },
  {
    path: 'src/store/sqlite/migrations/8-changed-references.ts',
    line: "when old.kind = 'project' and new.user_id = old.user_id and new.ref <> old.ref",
    from: "old.kind = 'project'",
    reason: 'nothing else has a reference',
  },
  {
    path: 'src/store/postgres/migrations/8-changed-references.ts',
    line: "when (old.kind = 'project' and new.user_id = old.user_id and new.ref <> old.ref)",
    from: "old.kind = 'project'",
    reason: 'nothing else has a reference',
  },
  {
    path: 'src/store/sqlite/migrations/8-changed-references.ts',
    line: 'update staged_export set ref = new.ref where user_id = old.user_id and ref = old.ref and owner is null;',
    from: 'owner is null',
    reason: 'what a replacement has staged names no user',
  },
  {
    path: 'src/store/sqlite/migrations/3-removal.ts',
    line: 'create index staged_export_owner on staged_export (owner) where owner is not null;',
    reason: 'the same rows are found through an index that has more of them',
  },
]
