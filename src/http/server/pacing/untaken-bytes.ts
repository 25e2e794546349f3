// Asks the kernel how many of the bytes that were written to connections their clients have not taken (Linux).
import { readFile } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { endsInTables, TCP, TCP6 } from '../../../auth/socket-tables.ts'

/** Of a row: behind its number both ends, the state, and the bytes to send (proc_pid_net(5)). */
const ROW = /: ([0-9A-F:]+ [0-9A-F:]+) [0-9A-F]+ ([0-9A-F]+):/g

/** How the kernel spells each connection. To spell it takes longer than to find it. */
const spelled = new WeakMap<Socket, readonly string[]>()

/**
 * The written bytes of each connection that its client's system has not acknowledged, sent or not. Connections that the
 * kernel does not list are missing, and on other systems all are.
 */
export async function readUntakenBytes(sockets: readonly Socket[]): Promise<ReadonlyMap<Socket, number>> {
  const wanted = new Map(sockets.flatMap((socket) => spellOnce(socket).map((ends) => [ends, socket] as const)))
  const untaken = new Map<Socket, number>()
  if (wanted.size === 0) return untaken
  for (const rows of await Promise.all([TCP, TCP6].map(readTable))) {
    for (const [, ends = '', toSend = ''] of rows.matchAll(ROW)) {
      const socket = wanted.get(ends)
      if (socket) untaken.set(socket, Number.parseInt(toSend, 16))
    }
  }
  return untaken
}

function spellOnce(socket: Socket): readonly string[] {
  const ends = spelled.get(socket) ?? endsOf(socket)
  spelled.set(socket, ends)
  return ends
}

function endsOf({ localAddress = '', localPort = 0, remoteAddress = '', remotePort = 0 }: Socket): readonly string[] {
  const own = { address: localAddress, port: localPort }
  return endsInTables(own, { address: remoteAddress, port: remotePort }).map(({ ends }) => ends)
}

function readTable(path: string): Promise<string> {
  return readFile(path, 'latin1').catch(() => '')
}
