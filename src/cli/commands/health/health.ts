// health: asks a running gateway whether it is ready, for the health checks of containers and scripts.
import type { IncomingMessage } from 'node:http'
import { request as https } from 'node:https'
import { request as http } from '../../../http-builtin.ts'
import { memberOf } from '../../../member-of.ts'
import { toLine } from '../../../redact.ts'
import { responseTo } from '../../../response-to.ts'
import type { CommandIo, ExitCode } from '../../io.ts'
import { requireServerAddress } from '../../move-in/remote-address.ts'
import type { HealthConfig } from '../../options/health/health-options.ts'

/** Maps a wildcard address that a server listens on to an address that a client can connect to. */
const ANY_ADDRESS: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': 'localhost' }

/** In UTF-16 units. */
const MAX_BODY_LENGTH = 65_536

/**
 * Requests `/readyz` at `url`, or at the address where `serve` with the same options listens. Proxy variables of the
 * environment are ignored. Returns 0 when the gateway is ready, else 1.
 */
export async function runHealth(url: string | undefined, config: HealthConfig, io: CommandIo): Promise<ExitCode> {
  const base =
    url === undefined
      ? `http://${hostOf(config.host)}:${config.port}${config.basePath}`
      : requireServerAddress(url, null)
  try {
    const { status, body } = await ask(`${base}/readyz`, config.timeout * 1_000)
    if (status === 200 && memberOf(body, 'status') === 'ready') {
      io.stdout.write('ready\n')
      return 0
    }
    const detail = memberOf(body, 'detail')
    const reason = typeof detail === 'string' ? toLine(detail) : 'the server there is not a gateway.'
    io.stderr.write(`not ready: ${status} ${reason}\n`)
  } catch (error) {
    io.stderr.write(`not ready: ${base} does not answer (${reasonOf(error)})\n`)
  }
  return 1
}

/**
 * Does not use `fetch`, which refuses the ports that browsers block and may use a proxy of the environment. Throws the
 * error that ended the request, or `TimeoutError` after `timeoutMs`.
 */
async function ask(url: string, timeoutMs: number): Promise<{ readonly status: number; readonly body: unknown }> {
  const send = url.startsWith('https:') ? https : http
  const signal = AbortSignal.timeout(timeoutMs)
  const request = send(url, { agent: false, signal }).end()
  try {
    const response = await responseTo(request)
    return { status: response.statusCode ?? 0, body: await bodyOf(response) }
  } catch (error) {
    throw signal.aborted ? signal.reason : error
  }
}

/** Null for a body that is not JSON, or longer than that of any gateway: then it stops reading. */
async function bodyOf(response: IncomingMessage): Promise<unknown> {
  let text = ''
  for await (const part of response.setEncoding('utf8')) {
    text += part
    if (text.length > MAX_BODY_LENGTH) return null
  }
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

function hostOf(host: string): string {
  const reachable = ANY_ADDRESS[host] ?? host
  return reachable.includes(':') ? `[${reachable}]` : reachable
}

function reasonOf(error: unknown): string {
  const { name, message, code } = error as NodeJS.ErrnoException
  return name === 'TimeoutError' ? 'no answer in time' : (code ?? message)
}
