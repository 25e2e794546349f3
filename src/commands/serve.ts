// serve: the gateway, until it is told to stop.
import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { LOGIN_GUARDS } from '../auth/guards/guards.ts'
import { isLoopbackBinding } from '../auth/loopback.ts'
import { DEFAULT_DATABASE, type ServeConfig } from '../config.ts'
import { UsageError } from '../errors.ts'
import { createGateway } from '../gateway.ts'
import { createHttpServer } from '../http/server.ts'
import { openStore } from '../store/open-store.ts'
import { DEMO_EMAIL, demoExamples, loadDemo } from './demo.ts'
import type { CommandIo, ExitCode } from './io.ts'
import { createLog, createReport } from './log.ts'

/** Off this machine, an attacker's programs are slowed down; on it, a developer's tests are not. */
const DEFAULT_ATTEMPTS_PER_MINUTE = 600

/** Serves until `stop` is aborted. */
export async function runServe(config: ServeConfig, io: CommandIo, stop: AbortSignal): Promise<ExitCode> {
  const isLoopback = isLoopbackBinding(config.host)
  const guard = LOGIN_GUARDS[config.loginGuard](config.corsOrigin)
  if (guard.name === 'local' && !isLoopback) {
    throw new UsageError(
      `--host ${config.host} can be reached from other machines, and the login guard "local" lets in only this one: ` +
        'listen on 127.0.0.1, or choose a guard with --login-guard (open: anyone may sign in, knowing only an email address)',
    )
  }
  const log = createLog(config.logLevel, io)
  if (guard.warning !== null) log.warn(guard.warning)
  const failed = new AbortController()
  await using store = await openStore(config.database, {
    lockTimeoutMs: config.lockTimeout,
    onFatal(error) {
      log.fatal({ err: error }, 'the disk failed: stopping, since only a fresh start knows what is stored')
      failed.abort()
    },
  })
  const isSeeded =
    isLoopback && !config.noDemo && config.database === DEFAULT_DATABASE && (await loadDemo(store, io.clock))
  const ending = AbortSignal.any([stop, failed.signal])
  const handle = await createGateway(store, {
    guard,
    basePath: config.basePath,
    corsOrigins: config.corsOrigin,
    issuer: config.issuer,
    audience: config.audience,
    accessTokenTtlSeconds: config.accessTokenTtl,
    refreshIdleTtlSeconds: config.refreshIdleTtl,
    refreshAbsoluteTtlSeconds: config.refreshAbsoluteTtl,
    attemptsPerMinute: config.attemptsPerMinute ?? (isLoopback ? 0 : DEFAULT_ATTEMPTS_PER_MINUTE),
    cacheBytes: config.cacheBytes,
    demoEmail: DEMO_EMAIL,
    examples: await demoExamples(),
    clock: io.clock,
    report: createReport(log),
    isDraining: () => ending.aborted,
  })
  const server = createHttpServer(handle, { bodyLimitBytes: config.bodyLimit })
  const url = await listen(server, config)
  io.stdout.write(`listening on ${url}\n${isSeeded ? demoNotice(`${url}${config.basePath}`) : ''}`)
  if (!ending.aborted) await once(ending, 'abort')
  await drain(server, config.shutdownGrace * 1_000, log)
  return failed.signal.aborted ? 1 : 0
}

async function listen(server: Server, { host, port }: ServeConfig): Promise<string> {
  server.listen(port, host)
  try {
    await once(server, 'listening')
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    throw new UsageError(
      code === 'EADDRINUSE'
        ? `port ${port} on ${host} is in use: choose another with --port, or --port 0 for a free one`
        : `cannot listen on ${host}: ${message}`,
    )
  }
  const { port: actualPort } = server.address() as AddressInfo
  return `http://${host.includes(':') ? `[${host}]` : host}:${actualPort}`
}

/** No new connections; requests that are under way may finish. */
async function drain(server: Server, graceMs: number, log: Logger): Promise<void> {
  log.info('stopping')
  const closed = once(server, 'close')
  server.close()
  const timer = new AbortController()
  await Promise.race([closed, delay(graceMs, undefined, { signal: timer.signal }).catch(() => {})])
  timer.abort()
  server.closeAllConnections()
  await closed
}

function demoNotice(url: string): string {
  return [
    '',
    `A demo workspace was loaded for ${DEMO_EMAIL} (this happens once, on an empty default database).`,
    `  open       ${url}/`,
    `  sign in    curl -X POST ${url}/login -H 'Content-Type: application/json' -d '{"email":"${DEMO_EMAIL}"}'`,
    '',
    '',
  ].join('\n')
}
