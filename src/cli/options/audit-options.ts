// The options of every command that writes to the audit log: retention, and whether emails are hashed.
import { type Config, duration, inGroup, oneOf } from './option.ts'

export const auditOptions = inGroup('Audit log', {
  auditRetention: {
    flags: '--audit-retention <time>',
    description: 'how long the audit log keeps its entries, in days or hours; 0 for no audit log',
    default: '400d',
    schema: duration,
  },
  auditEmails: {
    flags: '--audit-emails <how>',
    description: 'how the audit log names people: hashed, or clear for their emails',
    default: 'hashed',
    schema: oneOf('hashed', 'clear'),
  },
})

export type AuditConfig = Config<typeof auditOptions>
