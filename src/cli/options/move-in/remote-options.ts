// The options of commands that read from another server of the contract: users, headers, concurrency, maximum outage.
import { z } from 'zod'
import { duration, integer, list, nonEmpty, type OptionRow } from '../option.ts'

/** Headers that are sent with every request to the other server. */
export const headers = {
  flags: '--headers <path>',
  description:
    'a file of headers for the other server, one `Name: value` per line, such as a key that it or its proxy requires',
  schema: nonEmpty.optional(),
} as const satisfies OptionRow

/** The users, the headers, the concurrency and the maximum outage. */
export const remoteOptions = {
  email: {
    flags: '--email <emails>',
    description: 'move in from a server of this contract: emails of the users to read there, separated by commas',
    schema: list.pipe(z.array(z.string()).min(1, 'must name a user')).optional(),
  },
  emails: {
    flags: '--emails <path>',
    description: 'like --email, but with a file of emails, one per line',
    schema: nonEmpty.optional(),
  },
  headers,
  concurrency: {
    flags: '--concurrency <number>',
    description: 'number of users that are read from the other server at the same time',
    default: '4',
    schema: integer(1, 64),
  },
  maxOutage: {
    flags: '--max-outage <duration>',
    description:
      'how long the other server may be unavailable or busy before the command gives up on a user, and if it answers nobody, on all who are left',
    default: '5m',
    schema: duration,
  },
} as const satisfies Record<string, OptionRow>
