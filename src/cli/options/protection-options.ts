// The options of `serve` that protect it: body limit, memory, send timeout, overload, database check, shutdown.
import { z } from 'zod'
import { integer, type OptionRow } from './option.ts'

export const protectionOptions = {
  bodyLimit: {
    flags: '--body-limit <bytes>',
    description:
      'largest request body; those over 16 KiB of one network that come or wait have 16 MiB together, or as much as this; past it 503',
    default: String(262_144),
    schema: integer(256, 1_073_741_824),
  },
  cacheBytes: {
    flags: '--cache-bytes <bytes>',
    description: 'memory for finished replies, 0 for none; they are never stale, whatever the size',
    default: String(67_108_864),
    schema: integer(0, 1_099_511_627_776),
  },
  inFlightBytes: {
    flags: '--in-flight-bytes <bytes>',
    description: 'memory for large answers that are being made and sent; past it they are answered 503',
    default: String(134_217_728),
    schema: integer(1_048_576, 1_099_511_627_776),
  },
  sendTimeout: {
    flags: '--send-timeout <seconds>',
    description: 'a client that takes longer than this for 64 KiB of an answer is cut off',
    default: '20',
    schema: integer(1, 3_600),
  },
  maxQueueDelay: {
    flags: '--max-queue-delay <milliseconds>',
    description: 'when requests wait for longer than this before work on them begins, what is too much is answered 503',
    default: '50',
    schema: integer(5, 60_000),
  },
  check: {
    flags: '--check <extent>',
    description: 'SQLite: how much of the database is verified at start: quick, full or off',
    default: 'quick',
    schema: z.enum(['quick', 'full', 'off'], 'must be quick, full or off'),
  },
  shutdownDelay: {
    flags: '--shutdown-delay <seconds>',
    description: 'how long /readyz says 503 after SIGTERM or SIGINT while requests are still taken: for balancers',
    default: '0',
    schema: integer(0, 3_600),
  },
  shutdownGrace: {
    flags: '--shutdown-grace <seconds>',
    description: 'how long requests may take to finish after SIGTERM or SIGINT',
    default: '10',
    schema: integer(0, 3_600),
  },
} as const satisfies Record<string, OptionRow>
