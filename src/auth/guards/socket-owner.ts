// Finds which user owns the other end of a local connection, from the socket tables of Linux in /proc/self/net.
import { accessSync, constants, readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { endianness } from 'node:os'
import type { Peer } from '../caller.ts'
import { addressBytes, mappedBytes } from '../ip-address.ts'

/** Below /proc/self, because a service with `ProcSubset=pid` has no /proc/net. */
const TCP = '/proc/self/net/tcp'
/** Missing on a system without IPv6. */
const TCP6 = '/proc/self/net/tcp6'
const USER_ID_MAP = '/proc/self/uid_map'

/** The tables that may list a connection, and the form of its addresses in them. */
const AS_IPV4 = { table: TCP, form: (bytes: readonly number[]) => bytes }
const AS_MAPPED = { table: TCP6, form: mappedBytes }

/** Columns of a row, counted from the local address (proc_pid_net(5)). */
const UID_COLUMN = 6
const INODE_COLUMN = 8

/** A user namespace that maps this many ids maps every user. */
const ALL_USERS = 4_294_967_295
/** The kernel shows this id in place of every user that the user namespace does not map (user_namespaces(7)). */
const UNMAPPED_USER = 65_534

type ReadTable = (path: string) => Promise<string>

/**
 * The id of the user that opened the peer's socket; null if the kernel does not list it, or does not tell which user it
 * is, or if no process holds it any more.
 */
export type SocketOwner = (peer: Peer) => Promise<number | null>

export function canAskForSocketOwners(isReadable: (path: string) => boolean = isReadableFile): boolean {
  return process.platform === 'linux' && isReadable(TCP)
}

function isReadableFile(path: string): boolean {
  try {
    accessSync(path, constants.R_OK)
    return true
  } catch {
    return false
  }
}

/**
 * The user id that may be that of several users, as this process sees them; null if there is none. `idMap` is null on a
 * kernel without user namespaces.
 */
export function ambiguousUserId(idMap: string | null = readUserIdMap()): number | null {
  // Each line maps a range of ids: its first id here, its first id outside, its length.
  const lengths = (idMap?.match(/\d+/g) ?? []).filter((_, index) => index % 3 === 2)
  const mapped = lengths.reduce((sum, length) => sum + Number(length), 0)
  return idMap === null || mapped >= ALL_USERS ? null : UNMAPPED_USER
}

function readUserIdMap(): string | null {
  return isReadableFile(USER_ID_MAP) ? readFileSync(USER_ID_MAP, 'latin1') : null
}

export function createSocketOwner(
  readTable: ReadTable = (path) => readFile(path, 'latin1'),
  ambiguousId: number | null = ambiguousUserId(),
): SocketOwner {
  const [ipv4, ipv6] = [
    createSharedRead(() => readTable(TCP)),
    createSharedRead(() => readTable(TCP6).catch(emptyIfMissing)),
  ]
  /** The kernel records the owner when the socket is opened, so one lookup per connection is enough. */
  const owners = new WeakMap<Peer, number>()

  async function findOwner({ address, port, localAddress, localPort }: Peer): Promise<number | null> {
    const [own, remote] = [addressBytes(address), addressBytes(localAddress)]
    if (own === null || remote === null) return null
    // An IPv4 connection is listed in the IPv6 table if the peer opened it on an IPv6 socket.
    for (const { table, form } of own.length === 4 ? [AS_IPV4, AS_MAPPED] : [AS_MAPPED]) {
      const ends = `${spellEnd(form(own), port)} ${spellEnd(form(remote), localPort)}`
      // The row of the peer's socket has the peer's own end first.
      const owner = ownerInRow(await (table === TCP ? ipv4() : ipv6()), ends)
      if (owner !== null) return owner === ambiguousId ? null : owner
    }
    return null
  }

  return async (peer) => {
    const owner = owners.get(peer) ?? (await findOwner(peer))
    if (owner !== null) owners.set(peer, owner)
    return owner
  }
}

/** Callers that arrive before a read begins share it, so a flood of logins costs one read at a time. */
function createSharedRead(read: () => Promise<string>): () => Promise<string> {
  let running: Promise<unknown> = Promise.resolve()
  let queued: Promise<string> | null = null
  return () => {
    // A read in progress may already be past the row, so only a read that has not begun may be shared.
    queued ??= running.then(() => {
      queued = null
      const reading = read()
      running = reading.catch(() => {})
      return reading
    })
    return queued
  }
}

function emptyIfMissing(error: NodeJS.ErrnoException): string {
  if (error.code === 'ENOENT') return ''
  throw error
}

function ownerInRow(table: string, ends: string): number | null {
  const at = table.indexOf(` ${ends} `)
  if (at === -1) return null
  const columns = table.slice(at + 1, table.indexOf('\n', at)).split(/\s+/)
  const [uid, inode] = [columns[UID_COLUMN], columns[INODE_COLUMN]]
  // With inode 0 no process holds the socket (TIME_WAIT, orphans), and the uid is meaningless.
  return uid === undefined || inode === undefined || inode === '0' ? null : Number(uid)
}

/** The address as 32-bit words in the machine's byte order, and the port in network order: `0100007F:0FA0`. */
function spellEnd(bytes: readonly number[], port: number): string {
  const words = Array.from({ length: bytes.length / 4 }, (_, at) => bytes.slice(at * 4, at * 4 + 4))
  const ordered = endianness() === 'LE' ? words.map((word) => word.toReversed()) : words
  return `${toHex(ordered.flat())}:${toHex([port >> 8, port & 0xff])}`
}

function toHex(bytes: readonly number[]): string {
  return Buffer.from(bytes).toString('hex').toUpperCase()
}
