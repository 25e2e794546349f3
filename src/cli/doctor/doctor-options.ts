// The options of `doctor`: those of `serve`, whose configuration it checks, and its own.
import { z } from 'zod'
import { type Config, duration, type OptionRow } from '../options/option.ts'
import { SERVE_OPTIONS } from '../options/serve-options.ts'

export const DOCTOR_OPTIONS = {
  ...SERVE_OPTIONS,
  format: {
    flags: '--format <name>',
    description: 'table for people, json for programs',
    default: 'table',
    schema: z.enum(['table', 'json'], 'must be table or json'),
  },
  look: {
    flags: '--look <from>',
    description: 'inside: at the database and the configuration; outside: through the proxy at URL; both',
    default: 'both',
    schema: z.enum(['both', 'inside', 'outside'], 'must be both, inside or outside'),
  },
  connectTo: {
    flags: '--connect-to <address>',
    description: 'connect to this address in place of the one that the name in the URL has',
    schema: z.string().optional(),
  },
  tlsCa: {
    flags: '--tls-ca <file>',
    description: 'certificates of authorities that the proxy is checked by, in PEM, in place of those that Node knows',
    schema: z.string().optional(),
  },
  backups: {
    flags: '--backups <folder>',
    description: 'where backups are put: one must be recent',
    schema: z.string().optional(),
  },
  backupMaxAge: {
    flags: '--backup-max-age <age>',
    description: 'how old the newest backup may be, such as 26h',
    default: '26h',
    schema: duration,
  },
} as const satisfies Record<string, OptionRow>

export type DoctorConfig = Config<typeof DOCTOR_OPTIONS>
