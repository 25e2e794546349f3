// Collects and serves the metrics of `follow`, such as its lag and its failures, for alerts.
import type { HealthServices } from '../../admin/health.ts'
import { counter, gauge, type Metric } from '../../admin/metrics/metric.ts'
import type { Traffic } from '../../import-export/remote/client.ts'
import type { Follower } from '../../import-export/remote/follow/follow.ts'
import type { Round } from '../../import-export/remote/follow/round.ts'
import type { CommandIo } from '../io.ts'
import { createLog } from '../log.ts'
import type { FollowConfig } from '../options/move-in/follow-options.ts'

const OUTCOMES = ['changed', 'unchanged', 'missing', 'failed'] as const
const CHANGES = ['added', 'replaced', 'removed'] as const

export interface FollowMetrics {
  readonly onRound: (round: Round) => void
  /** The current metrics, also in the middle of a round. */
  readonly collect: () => readonly Metric[]
}

export function createFollowMetrics(
  { lagSeconds }: Pick<Follower, 'lagSeconds'>,
  traffic: () => Traffic,
): FollowMetrics {
  const sums = { rounds: 0, changed: 0, unchanged: 0, missing: 0, failed: 0, added: 0, replaced: 0, removed: 0 }
  let isServerDown = false

  return {
    onRound(round) {
      sums.rounds += 1
      for (const name of [...OUTCOMES, ...CHANGES]) sums[name] += round[name]
      isServerDown = round.isServerDown
    },
    collect: () => [
      ...lagOf(lagSeconds()),
      gauge(
        'workspace_gateway_follow_remote_up',
        'Whether the server was available in the last round.',
        isServerDown ? 0 : 1,
        'min',
      ),
      counter('workspace_gateway_follow_rounds_total', 'Rounds that have ended.', [{ value: sums.rounds, labels: {} }]),
      counter(
        'workspace_gateway_follow_users_total',
        'Users in all rounds, by outcome.',
        OUTCOMES.map((outcome) => ({ value: sums[outcome], labels: { outcome } })),
      ),
      counter(
        'workspace_gateway_follow_changes_total',
        'Documents and exports that were added, replaced or removed.',
        CHANGES.map((change) => ({ value: sums[change], labels: { change } })),
      ),
      counter('workspace_gateway_follow_requests_total', 'Requests to the followed server.', [
        { value: traffic().requests, labels: {} },
      ]),
    ],
  }
}

/** Empty until the first user was in sync. */
function lagOf(lagSeconds: number | null): readonly Metric[] {
  if (lagSeconds === null) return []
  const help = 'Age of the oldest state that a followed user is known to match.'
  return [gauge('workspace_gateway_follow_lag_seconds', help, lagSeconds, 'max')]
}

/**
 * Listens on `--metrics-port` until it is disposed of. Null without that option. Throws `UsageError` when it cannot
 * listen.
 */
export async function openFollowMetrics(
  config: FollowConfig,
  metrics: FollowMetrics,
  ping: HealthServices['ping'],
  io: CommandIo,
): Promise<AsyncDisposable | null> {
  const { metricsPort, metricsHost } = config
  if (metricsPort === undefined) return null
  const { openAdminServer } = await import('../sight/admin-server.ts')
  const { createProcessMetrics, toText } = await import('../../admin/metrics/process-metrics.ts')
  const processMetrics = createProcessMetrics()
  const services = {
    ping,
    isDraining: () => false,
    metrics: async () => toText([...metrics.collect(), ...(await processMetrics())]),
  }
  const address = { adminHost: metricsHost, adminPort: metricsPort, portOption: '--metrics-port' }
  return openAdminServer({ ...config, ...address }, services, createLog({ logLevel: 'info' }, io))
}
