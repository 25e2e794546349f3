// Opens the audit log for commands, and formats its entries.
import { type AuditLog, type AuditStore, openAuditLog } from '../auth/audit/audit-log.ts'
import type { NewAuditEntry } from '../store/audit-contract.ts'
import type { CommandIo } from './io.ts'
import type { AuditConfig } from './options/audit-options.ts'

/**
 * For a short-lived command: old entries are left for a gateway to remove, and a failed write is reported on stderr.
 */
export function openCommandAudit(
  store: AuditStore,
  config: AuditConfig,
  { clock, stderr }: CommandIo,
): Promise<AuditLog> {
  return openAuditLog(store, {
    retentionMs: config.auditRetention === 0 ? 0 : Number.POSITIVE_INFINITY,
    areEmailsClear: config.auditEmails === 'clear',
    clock,
    onEntry() {},
    onFailure: () => stderr.write('the audit log could not be written\n'),
  })
}

/** An entry as JSON for the command `audit` and for the log, without empty members. */
export function describeEntry({ at, who, network, detail, count, ...entry }: NewAuditEntry): object {
  return {
    at: new Date(at).toISOString(),
    kind: entry.kind,
    result: entry.result,
    ...(who === '' ? {} : { who }),
    ...(network === '' ? {} : { network }),
    ...(detail === '' ? {} : { detail }),
    ...(count === 1 ? {} : { count }),
  }
}
