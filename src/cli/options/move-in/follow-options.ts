// The options of `follow`: the users, the interval, when to remove, and the address of its metrics.
import { auditOptions } from '../audit-options.ts'
import { database, storeOptions } from '../database-options.ts'
import { IMPORT_OPTIONS } from '../import-options.ts'
import {
  booleanOption,
  type Config,
  duration,
  inGroup,
  integer,
  nonEmpty,
  type OptionRow,
  oneOf,
  wait,
} from '../option.ts'
import { remoteOptions } from './remote-options.ts'

const { email, emails, headers, concurrency } = remoteOptions
const { idFields, refFields } = IMPORT_OPTIONS

export const FOLLOW_OPTIONS = {
  database,
  email: { ...email, description: 'emails of the users whose workspaces to follow, separated by commas' },
  emails: {
    ...emails,
    description: 'like --email, but with a file of emails, one per line; it is read again for every round',
  },
  headers,
  concurrency,
  interval: {
    flags: '--interval <duration>',
    description: 'pause between two rounds',
    default: '5s',
    schema: wait,
  },
  once: {
    flags: '--once',
    description: 'run only one round; exit code 1 if a user could not be brought up to date',
    schema: booleanOption.optional(),
  },
  removeAfter: {
    flags: '--remove-after <duration>',
    description:
      'how long a workspace, or all exports of a user, must be gone or empty at the other server, in every round, before removal here',
    default: '15s',
    schema: duration,
  },
  absentListsAreEmpty: {
    flags: '--absent-lists-are-empty',
    description:
      'the other server answers 404 for an empty list: after --remove-after, empty a list here that alone is 404 there, unless many users are affected at once or nobody has such documents there',
    schema: booleanOption.optional(),
  },
  removeMany: {
    flags: '--remove-many',
    description:
      'allow many removals in one round: users gone or empty there, exports of users who have none there, and exports that other --id-fields or --ref-fields would remove; a list that alone is 404 there counts as empty',
    schema: booleanOption.optional(),
  },
  format: {
    flags: '--format <text|json>',
    description: 'how each round is reported: a line of text, or a line of JSON',
    default: 'text',
    schema: oneOf('text', 'json'),
  },
  ...inGroup('Metrics, logs and traces', {
    metricsPort: {
      flags: '--metrics-port <port>',
      description: 'port for /metrics (with the lag) and /healthz of this command; 0 picks a free one (default: none)',
      schema: integer(0, 65_535).optional(),
    },
    metricsHost: {
      flags: '--metrics-host <host>',
      description: 'address that --metrics-port listens on; there is no authentication',
      default: '127.0.0.1',
      schema: nonEmpty,
    },
  }),
  idFields,
  refFields,
  ...auditOptions,
  ...storeOptions,
} as const satisfies Record<string, OptionRow>

export type FollowConfig = Config<typeof FOLLOW_OPTIONS>
