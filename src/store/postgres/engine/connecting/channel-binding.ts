// Enforces SCRAM channel binding as libpq does: client and server prove to each other that both use the same TLS
// connection.
import type { Connection } from 'pg'

export const CHANNEL_BINDINGS = ['disable', 'prefer', 'require'] as const

export type ChannelBinding = (typeof CHANNEL_BINDINGS)[number]

/** Authentication requests without channel binding. */
const UNBOUND = ['authenticationCleartextPassword', 'authenticationMD5Password']

/**
 * Must be called before the driver connects. It ends the connection before the client sends a password to, or trusts, a
 * server that has not proven itself.
 */
export function requireChannelBinding(connection: Connection): void {
  let isProven = false
  const refuse = () => {
    // Synchronously: otherwise the rest of the server's messages would count as a connection that is ready.
    connection.emit('error', new Error('the server offers no channel binding, but channel_binding=require demands it'))
    connection.stream.destroy()
  }
  // Runs before the driver's own listeners: what they write afterwards goes to a destroyed socket.
  for (const name of UNBOUND) connection.prependListener(name, refuse)
  connection.prependListener('authenticationSASL', ({ mechanisms }: { readonly mechanisms: readonly string[] }) => {
    if (!mechanisms.includes('SCRAM-SHA-256-PLUS')) refuse()
  })
  connection.prependListener('authenticationSASLFinal', () => {
    isProven = true
  })
  connection.prependListener('authenticationOk', () => {
    if (!isProven) refuse()
  })
}
