// Connects to the first usable host of a database URL, with TLS or without as the URL allows.
import { reasonOf } from '../../../../errors.ts'
import { StoreUnavailableError } from '../../../contract.ts'
import { type Connection, type ConnectionOptions, openConnection } from '../../connection.ts'
import type { Access, Host, PostgresTarget } from '../connection-string.ts'
import { sqlState } from '../faults/pg-errors.ts'

const UNREACHABLE: Readonly<Record<Access, string>> = {
  'read-write': 'no database server that accepts writes can be reached',
  any: 'no database server can be reached',
  standby: 'no standby of the database can be reached',
}

/** SQLSTATE class of a server that refuses a connection of this kind, such as one without TLS. */
const NOT_AUTHORIZED = /^28/

/**
 * Tries the hosts in order, beginning at index `first`. Resolves to the connection and the index of its host.
 * `withoutTls` is kept between calls: the hosts that have said that they have no TLS, which the driver cannot go on
 * without on the same connection.
 */
export async function connect(
  target: PostgresTarget,
  options: ConnectionOptions,
  first: number,
  withoutTls: Set<Host>,
): Promise<{ readonly connection: Connection; readonly host: number }> {
  const causes: unknown[] = []
  const reasons: string[] = []
  for (let index = 0; index < target.hosts.length; index += 1) {
    const host = (first + index) % target.hosts.length
    const address = target.hosts[host]
    if (!address) continue
    try {
      return { connection: await connectTo(address, target, options, withoutTls), host }
    } catch (error) {
      causes.push(error)
      reasons.push(`${address.host} port ${address.port}: ${reasonOf(error)}`)
    }
  }
  const [only] = causes
  throw new StoreUnavailableError(UNREACHABLE[target.access], {
    cause: causes.length === 1 ? only : new AggregateError(causes, reasons.join('; ')),
  })
}

async function connectTo(
  host: Host,
  target: PostgresTarget,
  options: ConnectionOptions,
  withoutTls: Set<Host>,
): Promise<Connection> {
  if (target.tls === null) return openConnection(host, target, options, null)
  try {
    if (withoutTls.has(host)) return await openConnection(host, target, options, null)
  } catch (error) {
    withoutTls.delete(host)
    // It may have got TLS meanwhile.
    if (!NOT_AUTHORIZED.test(sqlState(error))) throw error
  }
  try {
    return await openConnection(host, target, options, target.tls)
  } catch (error) {
    if (!target.isTlsOptional || !hasNoTls(error)) throw error
    withoutTls.add(host)
    return openConnection(host, target, options, null)
  }
}

function hasNoTls(error: unknown): boolean {
  return reasonOf(error).includes('does not support SSL')
}
