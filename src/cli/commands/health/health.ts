// health: whether a gateway that runs is ready, for the health checks of containers and scripts.
import type { CommandIo, ExitCode } from '../../io.ts'
import { requireServerAddress } from '../../move-in/remote-address.ts'
import type { HealthConfig } from '../../options/health/health-options.ts'

/** Addresses that a server listens on and nobody connects to, and where such a server is found. */
const ANY_ADDRESS: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' }

/** Asks `/readyz`, at `url` or where `serve` with the same options listens. Nothing of a proxy's environment counts. */
export async function runHealth(url: string | undefined, config: HealthConfig, io: CommandIo): Promise<ExitCode> {
  const base =
    url === undefined
      ? `http://${hostOf(config.host)}:${config.port}${config.basePath}`
      : requireServerAddress(url, null)
  try {
    const response = await fetch(`${base}/readyz`, {
      signal: AbortSignal.timeout(config.timeout * 1_000),
      redirect: 'error',
    })
    const body: unknown = await response.json().catch(() => null)
    if (response.ok && Reflect.get(Object(body), 'status') === 'ready') {
      io.stdout.write('ready\n')
      return 0
    }
    const detail = Reflect.get(Object(body), 'detail')
    const reason = typeof detail === 'string' ? detail : 'what answers there is no gateway.'
    io.stderr.write(`not ready: ${response.status} ${reason}\n`)
  } catch (error) {
    io.stderr.write(`not ready: ${base} does not answer (${reasonOf(error)})\n`)
  }
  return 1
}

function hostOf(host: string): string {
  const reachable = ANY_ADDRESS[host] ?? host
  return reachable.includes(':') ? `[${reachable}]` : reachable
}

function reasonOf(error: unknown): string {
  const { name, message, cause } = error as Error & { cause?: NodeJS.ErrnoException }
  return name === 'TimeoutError' ? 'no answer in time' : (cause?.code ?? message)
}
