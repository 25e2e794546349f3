// Options of commands that read another server of the contract: its headers, whose workspaces, how many at once, how long it may be away.
import { z } from 'zod'
import { duration, integer, list, type OptionRow } from '../option.ts'

const path = z.string().min(1, 'must not be empty')

/** Sent along with every request there. */
export const headers = {
  flags: '--headers <path>',
  description:
    'a file of headers for the other server, `Name: value` in each line: a key that it or its proxy asks for',
  schema: path.optional(),
} as const satisfies OptionRow

/** Whose workspaces, and how many at once. */
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
