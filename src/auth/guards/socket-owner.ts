// Finds which user owns the other end of a local connection, from the socket tables of Linux in /proc/self/net.
import { accessSync, constants, readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import type { Peer } from '../caller.ts'
import { endsInTables, TCP, TCP6 } from '../socket-tables.ts'

const USER_ID_MAP = '/proc/self/uid_map'

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

  async function findOwner(peer: Peer): Promise<number | null> {
    const own = { address: peer.localAddress, port: peer.localPort }
    // The row of the peer's socket has the peer's own end first.
    for (const { table, ends } of endsInTables(peer, own)) {
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
