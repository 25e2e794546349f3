// The options of `follow`: the users, the interval, when to remove, and the address of its metrics.
import { z } from 'zod'
import { auditOptions } from '../audit-options.ts'
import { database, storeOptions } from '../database-options.ts'
import { IMPORT_OPTIONS } from '../import-options.ts'
import { booleanOption, type Config, duration, integer, type OptionRow, wait } from '../option.ts'
import { remoteOptions } from './remote-options.ts'

const { email, emails, headers, concurrency } = remoteOptions
const { idFields, refFields } = IMPORT_OPTIONS

export const FOLLOW_OPTIONS = {
  database,
  email: { ...email, description: 'whose workspaces to follow, separated by commas' },
  emails: { ...emails, description: 'the same from a file, one address a line; it is read again for every round' },
  headers,
  concurrency,
  interval: {
    flags: '--interval <duration>',
    description: 'between two rounds',
    default: '5s',
    schema: wait,
  },
  once: {
    flags: '--once',
    description: 'one round only; exit code 1 when a user could not be brought in step',
    schema: booleanOption.optional(),
  },
  removeAfter: {
    flags: '--remove-after <duration>',
    description:
      'how long a workspace is gone or empty at the other server, or all exports of a user are, in every round, before what is here is removed',
    default: '15s',
    schema: duration,
  },
  removeMany: {
    flags: '--remove-many',
    description:
      'remove users whose workspace is gone or empty at the other server, and exports of users who have none there, however many they are in one round; empty lists that alone are 404 there',
    schema: booleanOption.optional(),
  },
  format: {
    flags: '--format <text|json>',
    description: 'how rounds are told: a line of text, or a line of JSON',
    default: 'text',
    schema: z.enum(['text', 'json'], 'must be text or json'),
  },
  metricsPort: {
    flags: '--metrics-port <port>',
    description: 'port of /metrics and /healthz of this command, the lag among them; 0 for a free one (default: none)',
    schema: integer(0, 65_535).optional(),
  },
  metricsHost: {
    flags: '--metrics-host <host>',
    description: 'address that --metrics-port listens on; it asks nobody who they are',
    default: '127.0.0.1',
    schema: z.string().min(1, 'must not be empty'),
  },
  idFields,
  refFields,
  ...auditOptions,
  ...storeOptions,
} as const satisfies Record<string, OptionRow>

export type FollowConfig = Config<typeof FOLLOW_OPTIONS>
