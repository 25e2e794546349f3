// audit: writes the audit log as NDJSON.
import { UsageError } from '../../errors.ts'
import type { AuditVerbs } from '../../store/audit-contract.ts'
import { hashedEmail } from '../../store/hashed-email.ts'
import { pagesOf } from '../../store/paging/paging.ts'
import type { CommandIo, ExitCode } from '../io.ts'
import { describeEntry } from '../open-audit.ts'
import { openStoreToRead } from '../open-store-for-cli.ts'
import type { AuditCommandConfig } from '../options/operator-options.ts'
import { writeLine } from '../write-line.ts'

const ENTRIES_PER_READ = 1_000

/** Writes one JSON object a line, oldest first. Throws `UsageError` for an empty period. */
export async function runAudit(config: AuditCommandConfig, io: CommandIo): Promise<ExitCode> {
  const { stdout } = io
  const { from = null, to = null, kind = null } = config
  if (from !== null && to !== null && from >= to) throw new UsageError('--from: must be before --to')
  await using store = await openStoreToRead(config, io)
  const who = config.email === undefined ? null : await namesOf(config.email, store)
  const pages = pagesOf({
    start: 0,
    limit: ENTRIES_PER_READ,
    read: (after, limit) => store.auditEntries({ from, to, kind, who }, after, limit),
    keyOf: ({ id }) => id,
  })
  for await (const page of pages) {
    for (const entry of page) await writeLine(stdout, JSON.stringify(describeEntry(entry)))
  }
  return 0
}

/** The email in clear and hashed: the log may hold either form. */
async function namesOf(email: string, store: AuditVerbs): Promise<readonly string[]> {
  return [email, hashedEmail(email, await store.auditSalt())]
}
