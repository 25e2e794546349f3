// The audit log as commands open it.
import { type AuditLog, openAuditLog } from '../auth/audit/audit-log.ts'
import type { AuditVerbs, NewAuditEntry } from '../store/audit-contract.ts'
import type { CommandIo } from './io.ts'
import type { AuditConfig } from './options/audit-options.ts'

/** Of a command that ends by itself: old entries are left to a gateway, and what cannot be written is said. */
export function openCommandAudit(
  store: AuditVerbs,
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

/** As it is shown, and as it stands in the log: without what is empty. */
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
