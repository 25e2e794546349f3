// Where a socket listens that another process opened: the kernel says so before anybody is let in.
import { readFileSync, readlinkSync } from 'node:fs'
import { endianness } from 'node:os'
import { UsageError } from '../../../errors.ts'

/** Of this process: a unit with `ProcSubset=pid` shows no other. */
const TABLES = ['/proc/self/net/tcp', '/proc/self/net/tcp6']
/** Columns of a row (proc_pid_net(5)), and TCP_LISTEN in the third. */
const [LOCAL_COLUMN, STATE_COLUMN, INODE_COLUMN] = [1, 3, 9]
const LISTENING = '0A'

export interface ListeningAddress {
  readonly host: string
  readonly port: number
}

/** Throws `UsageError` unless it is a listening socket of TCP. */
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
    'The socket that was handed over is no listening TCP socket: give the socket unit a ListenStream such as 127.0.0.1:4000',
  )
}

/** Empty where there is none, as without IPv6. */
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

/** `0100007F:0FA0`: 32-bit words in the byte order of the machine, the port in network order. */
function readEnd(end: string): ListeningAddress {
  const [address = '', port = ''] = end.split(':')
  const words = (address.match(/.{8}/g) ?? []).map((word) => Buffer.from(word, 'hex'))
  const bytes = Buffer.concat(endianness() === 'LE' ? words.map((word) => word.reverse()) : words)
  return { host: bytes.length === 4 ? bytes.join('.') : spellIpv6(bytes), port: Number.parseInt(port, 16) }
}

/** As everybody writes it (RFC 5952), which is what a URL makes of it. */
function spellIpv6(bytes: Buffer): string {
  const groups = bytes.toString('hex').match(/.{4}/g) ?? []
  return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1)
}
