// The person who asked for a code, in the form in which the audit log may store it.
import type { AuditEvent } from '../audit/audit-event.ts'
import { emailWithoutCode } from './code-spelling.ts'

/** The email without a code in it, and an address that represents the network. */
export function auditedAsker(email: string, network: string): Pick<AuditEvent, 'email' | 'address'> {
  return { email: emailWithoutCode(email) ?? undefined, address: addressOfNetwork(network) }
}

/** The first address of an IPv6 /64; an IPv4 address unchanged. */
function addressOfNetwork(network: string): string {
  return network.replace(/\/64$/, '')
}
