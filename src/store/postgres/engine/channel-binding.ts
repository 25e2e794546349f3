// Channel binding as libpq has it: the password proves to the server, and the server to us, which TLS connection both are on.
import type { Connection } from 'pg'

export const CHANNEL_BINDINGS = ['disable', 'prefer', 'require'] as const

export type ChannelBinding = (typeof CHANNEL_BINDINGS)[number]

/** What the server may ask for that binds nothing. */
const UNBOUND = ['authenticationCleartextPassword', 'authenticationMD5Password']

/** To be called before the driver connects: it ends a connection before a password is sent, or an unproven server believed. */
export function requireChannelBinding(connection: Connection): void {
  let isProven = false
  const refuse = () => {
    // At once: what the server has sent behind this would count as a connection that is ready.
    connection.emit('error', new Error('the server offers no channel binding, which channel_binding=require asks for'))
    connection.stream.destroy()
  }
  // In front of the driver's own: what it writes then goes nowhere.
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
