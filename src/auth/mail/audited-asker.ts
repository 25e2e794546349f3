// Who asked for a code, as the audit log may hold it.
import type { AuditEvent } from '../audit/audit-event.ts'
import { emailWithoutCode } from './code-spelling.ts'

/** Without a code that stands in the email, and with an address that stands for the network. */
export function auditedAsker(email: string, network: string): Pick<AuditEvent, 'email' | 'address'> {
  return { email: emailWithoutCode(email) ?? undefined, address: addressOfNetwork(network) }
}

/** The first address of an IPv6 /64; an IPv4 address as it is. */
function addressOfNetwork(network: string): string {
  return network.replace(/\/64$/, '')
}
