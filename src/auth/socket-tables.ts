// Where Linux lists TCP sockets, and how it spells the two ends of a connection there (proc_pid_net(5)).
import { endianness } from 'node:os'
import { addressBytes, mappedBytes } from './ip-address.ts'

/** Below /proc/self, because a service with `ProcSubset=pid` has no /proc/net. */
export const TCP = '/proc/self/net/tcp'
/** Missing on a system without IPv6. */
export const TCP6 = '/proc/self/net/tcp6'

/** One end of a connection. */
export interface SocketEnd {
  readonly address: string
  readonly port: number
}

export interface ListedEnds {
  readonly table: typeof TCP | typeof TCP6
  /** The columns of both ends: that of the socket itself, a space, that of its peer. */
  readonly ends: string
}

/** The tables that may list a socket, and its ends there; none unless both addresses are IP addresses. */
export function endsInTables(own: SocketEnd, peer: SocketEnd): readonly ListedEnds[] {
  const [ownBytes, peerBytes] = [addressBytes(own.address), addressBytes(peer.address)]
  if (ownBytes === null || peerBytes === null) return []
  const spell = (form: (bytes: readonly number[]) => readonly number[]) =>
    `${spellEnd(form(ownBytes), own.port)} ${spellEnd(form(peerBytes), peer.port)}`
  const mapped: ListedEnds = { table: TCP6, ends: spell(mappedBytes) }
  // An IPv4 connection is listed in the IPv6 table if this end of it is an IPv6 socket.
  return ownBytes.length === 4 ? [{ table: TCP, ends: spell((bytes) => bytes) }, mapped] : [mapped]
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
