// The options of every command that opens a database: its URL, timeouts, checkpoints and pooling.
import { type Config, databaseUrl, inGroup, integer, type OptionRow, oneOf } from './option.ts'

export const database = {
  flags: '--database <url>',
  description: 'the database: file:PATH, or postgres://USER:PASSWORD@HOST:PORT,HOST:PORT/NAME',
  default: 'file:./data/workspace.db',
  schema: databaseUrl,
} as const satisfies OptionRow

export const MIN_POOL_SIZE = 2

/** Timeouts, checkpoints and connection pooling of the store. */
export const storeOptions = inGroup('Database', {
  lockTimeout: {
    flags: '--lock-timeout <milliseconds>',
    description: 'SQLite: how long a write waits for other processes before it fails, and its request with 503',
    default: '5000',
    schema: integer(1, 600_000),
  },
  checkpoints: {
    flags: '--checkpoints <who>',
    description:
      'SQLite: who makes checkpoints: own (the gateway), or external (a program that copies the log, such as Litestream)',
    default: 'own',
    schema: oneOf('own', 'external'),
  },
  connectTimeout: {
    flags: '--connect-timeout <milliseconds>',
    description: 'PostgreSQL: maximum time, for each host, to connect to it and for a request to wait for a connection',
    default: '3000',
    schema: integer(1, 600_000),
  },
  statementTimeout: {
    flags: '--statement-timeout <milliseconds>',
    description: 'PostgreSQL: how long a statement may take before it is cancelled, and its request fails with 503',
    default: '10000',
    schema: integer(1, 3_600_000),
  },
  poolSize: {
    flags: '--pool-size <count>',
    description: 'PostgreSQL: maximum connections of one process, plus four for answers that are read again',
    default: '10',
    schema: integer(MIN_POOL_SIZE, 1_000),
  },
  databasePooling: {
    flags: '--database-pooling <mode>',
    description:
      'PostgreSQL: transaction if a pooler gives each transaction another connection, session if not (or no pooler), auto to detect it',
    default: 'auto',
    schema: oneOf('auto', 'session', 'transaction'),
  },
})

export const DEFAULT_DATABASE = database.default

export type StoreConfig = Config<typeof storeOptions>
