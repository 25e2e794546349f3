// The options of `doctor`: those of `serve`, whose configuration it checks, and its own.
import { configOption } from '../configuration/config-option.ts'
import { type Config, duration, nonEmpty, type OptionRow, oneOf } from '../options/option.ts'
import { SERVE_OPTIONS } from '../options/serve-options.ts'

export const DOCTOR_OPTIONS = {
  format: {
    flags: '--format <name>',
    description: 'output format: table for people, json for programs',
    default: 'table',
    schema: oneOf('table', 'json'),
  },
  look: {
    flags: '--look <from>',
    description: 'what to check: inside (database and configuration), outside (through the proxy at URL), or both',
    default: 'both',
    schema: oneOf('both', 'inside', 'outside'),
  },
  connectTo: {
    flags: '--connect-to <address>',
    description: 'connect to this address instead of the one that the host name in the URL resolves to',
    schema: nonEmpty.optional(),
  },
  tlsCa: {
    flags: '--tls-ca <path>',
    description: 'PEM file of certificate authorities for verifying the proxy, instead of those that Node knows',
    schema: nonEmpty.optional(),
  },
  backups: {
    flags: '--backups <path>',
    description: 'folder of the backups; one of them must be recent',
    schema: nonEmpty.optional(),
  },
  backupMaxAge: {
    flags: '--backup-max-age <age>',
    description: 'maximum age of the newest backup, such as 26h',
    default: '26h',
    schema: duration,
  },
  ...SERVE_OPTIONS,
  config: configOption,
} as const satisfies Record<string, OptionRow>

export type DoctorConfig = Config<typeof DOCTOR_OPTIONS>
