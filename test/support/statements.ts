// Records the statements that a gateway in this process sends, and sends requests that reach it in one turn of its
// event loop.
import { once } from 'node:events'
import { connect } from 'node:net'
import { Client } from 'pg'
import { onTestFinished, vi } from 'vitest'
import type { TestGateway } from './gateway.ts'

/**
 * Statements that no request waits for: the keys read again, the audit log, sweeps, and the script of a new connection.
 */
const BACKGROUND: ReadonlySet<string> = new Set([
  'signingKeys',
  'auditSalt',
  'advanceWriter',
  'addAuditEntries',
  'removeAuditEntries',
  'dropExpiredSessions',
  'earlierTime',
  'script',
])

export interface Statements {
  /** The statements sent since the last call, in order; to the server on this port, or to any server. */
  readonly names: (port?: number) => readonly string[]
}

/** Records from now on what any client in this process sends. */
export function recordStatements(): Statements {
  let sent: { readonly name: string; readonly port: number }[] = []
  const original = Client.prototype.query
  const spy = vi.spyOn(Client.prototype, 'query').mockImplementation(function (this: Client, ...args: unknown[]) {
    const [statement] = args
    const name = typeof statement === 'object' && statement !== null ? String(Reflect.get(statement, 'name')) : 'script'
    sent.push({ name, port: this.port })
    return Reflect.apply(original, this, args)
  })
  onTestFinished(() => spy.mockRestore())
  return {
    names(port) {
      const isAsked = (statement: { readonly port: number }) => port === undefined || statement.port === port
      const asked = sent.filter(isAsked)
      sent = sent.filter((statement) => !isAsked(statement))
      return asked.map(({ name }) => name).filter((name) => !BACKGROUND.has(name))
    },
  }
}

/** Sends the requests in one write on one connection; resolves to the bodies in order. */
export async function sendTogether({ url }: TestGateway, requests: readonly string[]): Promise<readonly string[]> {
  const { port, hostname } = new URL(url)
  const socket = connect(Number(port), hostname)
  await once(socket, 'connect')
  let received = ''
  socket.on('data', (chunk: Buffer) => {
    received += chunk.toString()
  })
  socket.write(requests.join(''))
  let bodies: readonly string[] = []
  while (bodies.length < requests.length) {
    await once(socket, 'data')
    bodies = wholeBodies(received)
  }
  socket.destroy()
  return bodies
}

function wholeBodies(text: string): readonly string[] {
  const bodies: string[] = []
  for (let rest = text; ; ) {
    const head = /^HTTP\/1\.1 \d+ [\s\S]*?content-length: (\d+)\r\n[\s\S]*?\r\n\r\n/i.exec(rest)
    const end = (head?.[0].length ?? 0) + Number(head?.[1])
    if (!head || rest.length < end) return bodies
    bodies.push(rest.slice(head[0].length, end))
    rest = rest.slice(end)
  }
}
