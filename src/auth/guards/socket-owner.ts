// Whose socket is at the other end of a connection of this machine: Linux knows, in /proc/net/tcp and tcp6.
import { accessSync, constants } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { endianness } from 'node:os'
import type { Peer } from '../caller.ts'
import { addressBytes, mappedBytes } from '../ip-address.ts'

const TABLES = ['/proc/net/tcp', '/proc/net/tcp6']

/** Columns of a row, counted from the local address (proc_pid_net(5)). */
const UID_COLUMN = 6
const INODE_COLUMN = 8

/** The user id that opened the peer's socket; null when the kernel lists none, or no process holds it any more. */
export type SocketOwner = (peer: Peer) => Promise<number | null>

export function canAskForSocketOwners(): boolean {
  if (process.platform !== 'linux') return false
  try {
    for (const table of TABLES) accessSync(table, constants.R_OK)
    return true
  } catch {
    return false
  }
}

/** Reads the tables once for all who ask meanwhile: a flood of logins costs one read at a time. */
export function createSocketOwner(readTables: () => Promise<string> = readKernelTables): SocketOwner {
  let running: Promise<unknown> = Promise.resolve()
  let queued: Promise<string> | null = null

  /** A read that has begun may have passed the row already: only one that has not may be shared. */
  function freshTables(): Promise<string> {
    queued ??= running.then(() => {
      queued = null
      const reading = readTables()
      running = reading.catch(() => {})
      return reading
    })
    return queued
  }

  return async (peer) => ownerIn(await freshTables(), peer)
}

async function readKernelTables(): Promise<string> {
  const tables = await Promise.all(TABLES.map((table) => readFile(table, 'latin1')))
  return tables.join('')
}

/** The row as the peer sees the connection: its own end first. */
function ownerIn(tables: string, { address, port, localAddress, localPort }: Peer): number | null {
  const [own, remote] = [addressBytes(address), addressBytes(localAddress)]
  if (own === null || remote === null) return null
  // An IPv4 connection stands in tcp6 when the peer opened it on an IPv6 socket.
  for (const form of [(bytes: readonly number[]) => bytes, mappedBytes]) {
    const at = tables.indexOf(` ${spellEnd(form(own), port)} ${spellEnd(form(remote), localPort)} `)
    if (at === -1) continue
    const columns = tables.slice(at + 1, tables.indexOf('\n', at)).split(/\s+/)
    const [uid, inode] = [columns[UID_COLUMN], columns[INODE_COLUMN]]
    // Without an inode no process holds it (TIME_WAIT, orphans), and the uid says nothing.
    if (uid !== undefined && inode !== undefined && inode !== '0') return Number(uid)
  }
  return null
}

/** 32-bit words in the byte order of the machine, the port in network order: `0100007F:0FA0`. */
function spellEnd(bytes: readonly number[], port: number): string {
  const words = Array.from({ length: bytes.length / 4 }, (_, at) => bytes.slice(at * 4, at * 4 + 4))
  const ordered = endianness() === 'LE' ? words.map((word) => word.toReversed()) : words
  return `${toHex(ordered.flat())}:${toHex([port >> 8, port & 0xff])}`
}

function toHex(bytes: readonly number[]): string {
  return Buffer.from(bytes).toString('hex').toUpperCase()
}
