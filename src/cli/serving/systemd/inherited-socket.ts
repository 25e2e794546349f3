// Finds the address of a listening socket that another process opened, from /proc, before the gateway starts to accept.
import { readFileSync, readlinkSync } from 'node:fs'
import { endianness } from 'node:os'
import { UsageError } from '../../../errors.ts'

/** Socket tables under /proc/self: a unit with `ProcSubset=pid` has no /proc/net. */
const TABLES = ['/proc/self/net/tcp', '/proc/self/net/tcp6']
/** Columns of a row (proc_pid_net(5)). */
const [LOCAL_COLUMN, STATE_COLUMN, INODE_COLUMN] = [1, 3, 9]
/** TCP_LISTEN in the state column. */
const LISTENING = '0A'

export interface ListeningAddress {
  readonly host: string
  readonly port: number
}

/** Throws `UsageError` unless `fd` is a listening TCP socket. */
export function addressOfListener(fd: number): ListeningAddress {
  const inode = /^socket:\[(\d+)\]$/.exec(linkOf(fd))?.[1]
  for (const table of inode === undefined ? [] : TABLES) {
    for (const row of readTable(table).split('\n')) {
      const columns = row.trim().split(/\s+/)
      if (columns[INODE_COLUMN] === inode && columns[STATE_COLUMN] === LISTENING) {
        return readEnd(columns[LOCAL_COLUMN] ?? '')
      }
    }
  }
  throw new UsageError(
    'The inherited socket is not a listening TCP socket: give the socket unit a ListenStream such as 127.0.0.1:4000',
  )
}

/** '' when the table does not exist, as without IPv6. */
function readTable(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}

function linkOf(fd: number): string {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`)
  } catch {
    return ''
  }
}

/** Parses `0100007F:0FA0`: the address is 32-bit words in the machine's byte order, the port a hexadecimal number. */
function readEnd(end: string): ListeningAddress {
  const [address = '', port = ''] = end.split(':')
  const words = (address.match(/.{8}/g) ?? []).map((word) => Buffer.from(word, 'hex'))
  const bytes = Buffer.concat(endianness() === 'LE' ? words.map((word) => word.reverse()) : words)
  return { host: bytes.length === 4 ? bytes.join('.') : spellIpv6(bytes), port: Number.parseInt(port, 16) }
}

/** The canonical text of an IPv6 address (RFC 5952), which `URL` produces. */
function spellIpv6(bytes: Buffer): string {
  const groups = bytes.toString('hex').match(/.{4}/g) ?? []
  return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1)
}
