// The options of commands that read from another server of the contract: users, headers, concurrency, maximum outage.
import { z } from 'zod'
import { duration, integer, list, type OptionRow } from '../option.ts'

const path = z.string().min(1, 'must not be empty')

/** Headers that are sent with every request to the other server. */
export const headers = {
  flags: '--headers <path>',
  description:
    'a file of headers for the other server, `Name: value` in each line: a key that it or its proxy asks for',
  schema: path.optional(),
} as const satisfies OptionRow

/** The users, the headers, the concurrency and the maximum outage. */
export const remoteOptions = {
  email: {
    flags: '--email <emails>',
    description: 'move in from a server of this contract: whose workspaces to read there, separated by commas',
    schema: list.optional(),
  },
  emails: {
    flags: '--emails <path>',
    description: 'the same from a file, one address a line',
    schema: path.optional(),
  },
  headers,
  concurrency: {
    flags: '--concurrency <number>',
    description: 'users who are read from the other server at the same time',
    default: '4',
    schema: integer(1, 64),
  },
  maxOutage: {
    flags: '--max-outage <duration>',
    description: 'how long the other server may be away or busy before a user is given up',
    default: '5m',
    schema: duration,
  },
} as const satisfies Record<string, OptionRow>
