// Counts events: sign-ins and everything else in the audit log, responses that broke off, malformed requests, refused
// connections, imports.
import type { AuditEvent } from '../../auth/audit/audit-event.ts'
import type { FailureCode } from '../../errors.ts'
import type { BreakReason } from '../../http/server/broken-off.ts'
import type { ConnectionRefusal } from '../../http/server/server.ts'
import type { ImportEvent } from '../../import-export/run-import.ts'
import { type CollectMetrics, counter } from './metric.ts'

/** Event types that end an import. */
const IMPORT_RESULTS = ['imported', 'wouldImport', 'refused', 'failed'] as const
type ImportResult = (typeof IMPORT_RESULTS)[number] | 'left'

export interface EventMetrics {
  /** Counts logins, codes, logouts, removals: the events of the audit log. */
  readonly onEvent: (event: AuditEvent) => void
  readonly onBrokenOff: (reason: BreakReason) => void
  /** Counts input that was not a request. */
  readonly onMalformed: (code: FailureCode) => void
  readonly onRefusedConnection: (reason: ConnectionRefusal) => void
  /** Counts an import through POST /import that has ended with this event, or because its client left. */
  readonly onImport: (last: ImportEvent | null) => void
  readonly collect: CollectMetrics
}

export function createEventMetrics(): EventMetrics {
  const events = new Map<string, { readonly event: AuditEvent; count: number }>()
  const malformed = new Map<string, number>()
  // These start at 0: Prometheus sees no increase when a counter appears with its first event.
  const brokenOff: Record<BreakReason, number> = { stalled: 0, left: 0, failed: 0 }
  const refused: Record<ConnectionRefusal, number> = { tooMany: 0, noProxyHeader: 0, tooManyAhead: 0 }
  const imports: Record<ImportResult, number> = { imported: 0, wouldImport: 0, refused: 0, failed: 0, left: 0 }
  const importedRecords = { added: 0, replaced: 0, unchanged: 0, removed: 0 }

  return {
    onEvent(event) {
      const name = `${event.kind} ${event.result}`
      const known = events.get(name)
      if (known) known.count += 1
      else events.set(name, { event: { kind: event.kind, result: event.result }, count: 1 })
    },
    onBrokenOff(reason) {
      brokenOff[reason] += 1
    },
    onMalformed: (code) => malformed.set(code, (malformed.get(code) ?? 0) + 1),
    onRefusedConnection(reason) {
      refused[reason] += 1
    },
    onImport(last) {
      imports[IMPORT_RESULTS.find((result) => result === last?.type) ?? 'left'] += 1
      if (last?.type !== 'imported') return
      importedRecords.added += last.added
      importedRecords.replaced += last.replaced
      importedRecords.unchanged += last.unchanged
      importedRecords.removed += last.removed
    },
    collect: () => [
      counter(
        'workspace_gateway_events_total',
        'Audit events: logins, codes, logouts, refused refreshes, removals.',
        [...events.values()].map(({ event: { kind, result }, count }) => ({ value: count, labels: { kind, result } })),
      ),
      counter(
        'workspace_gateway_responses_broken_off_total',
        'Responses that broke off before they were complete.',
        Object.entries(brokenOff).map(([reason, value]) => ({ value, labels: { reason } })),
      ),
      counter(
        'workspace_gateway_malformed_requests_total',
        'Refused before they became requests: not HTTP, too large, too slow, or CONNECT. No other metric counts them.',
        [...malformed].map(([code, value]) => ({ value, labels: { code } })),
      ),
      counter(
        'workspace_gateway_connections_refused_total',
        'Connections closed without an answer: beyond the limit of the process, from a proxy without a PROXY header, or with too many requests sent ahead.',
        Object.entries(refused).map(([reason, value]) => ({ value, labels: { reason } })),
      ),
      counter(
        'workspace_gateway_imports_total',
        'Imports through POST /import, by outcome.',
        Object.entries(imports).map(([result, value]) => ({ value, labels: { result } })),
      ),
      counter(
        'workspace_gateway_import_records_total',
        'Records of imports through POST /import, by outcome.',
        Object.entries(importedRecords).map(([outcome, value]) => ({ value, labels: { outcome } })),
      ),
    ],
  }
}
