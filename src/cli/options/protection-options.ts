// The options of `serve` that protect it: body limit, memory, send timeout, overload, shutdown.
import { inGroup, integer } from './option.ts'

export const protectionOptions = inGroup('Memory and overload', {
  bodyLimit: {
    flags: '--body-limit <bytes>',
    description:
      'maximum size of a request body; pending bodies over 16 KiB from one network share 16 MiB, or this size if larger; beyond that: 503',
    default: String(262_144),
    schema: integer(256, 1_073_741_824),
  },
  cacheBytes: {
    flags: '--cache-bytes <bytes>',
    description: 'memory for cached replies, 0 for none; cached replies are never stale, whatever the size',
    default: String(67_108_864),
    schema: integer(0, 1_099_511_627_776),
  },
  inFlightBytes: {
    flags: '--in-flight-bytes <bytes>',
    description: 'memory for large answers while they are made and sent; when it is used up, the gateway answers 503',
    default: String(134_217_728),
    schema: integer(1_048_576, 1_099_511_627_776),
  },
  sendTimeout: {
    flags: '--send-timeout <seconds>',
    description:
      'maximum time that a client may take to read 64 KiB of an answer before it is disconnected; one that has read before may take 2.5 times as long',
    default: '20',
    schema: integer(1, 3_600),
  },
  maxQueueDelay: {
    flags: '--max-queue-delay <milliseconds>',
    description:
      'when requests wait longer than this to be processed, the gateway answers the excess requests with 503',
    default: '50',
    schema: integer(5, 60_000),
  },
})

export const shutdownOptions = inGroup('Workers and shutdown', {
  shutdownDelay: {
    flags: '--shutdown-delay <seconds>',
    description:
      'how long /readyz answers 503 after SIGTERM or SIGINT while requests are still accepted, for load balancers',
    default: '0',
    schema: integer(0, 3_600),
  },
  shutdownGrace: {
    flags: '--shutdown-grace <seconds>',
    description: 'how long requests may take to finish after SIGTERM or SIGINT',
    default: '10',
    schema: integer(0, 3_600),
  },
})
