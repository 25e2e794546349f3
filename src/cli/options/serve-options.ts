// All options of `serve`, with the most used first. Defined here are those without a table of their own: address,
// workers, log, replica, proxies, CORS.
import { z } from 'zod'
import { normalOrigin } from '../../auth/origins.ts'
import { networkProblem } from '../../http/forwarding/trusted-proxies.ts'
import { auditOptions } from './audit-options.ts'
import { database, storeOptions } from './database-options.ts'
import { GRAPHQL_OPTIONS } from './graphql-options.ts'
import {
  booleanOption,
  type Config,
  databaseUrl,
  inGroup,
  integer,
  list,
  nonEmpty,
  type OptionRow,
  oneOf,
} from './option.ts'
import { protectionOptions, shutdownOptions } from './protection-options.ts'
import { ledgerOptions } from './retirement/ledger-options.ts'
import { retirementOptions } from './retirement/retirement-options.ts'
import { shadowOptions } from './retirement/shadow-options.ts'
import { sightOptions } from './sight/sight-options.ts'
import { ASSERTION_OPTIONS } from './sign-in/assertion-options.ts'
import { loginGuardOptions } from './sign-in/login-guard-options.ts'
import { MAIL_OPTIONS } from './sign-in/mail-options.ts'
import { rateLimitOptions } from './sign-in/rate-limit-options.ts'
import { sessionOptions } from './sign-in/session-options.ts'
import { accessTokenTtl, keyEncryptionOptions, tokenAlgorithm, tokenNameOptions } from './token-options.ts'

export const SERVE_OPTIONS = {
  host: {
    flags: '--host <host>',
    description: 'address to listen on',
    default: '127.0.0.1',
    schema: nonEmpty,
  },
  port: {
    flags: '--port <port>',
    description: 'port to listen on; 0 picks a free one',
    default: '4000',
    schema: integer(0, 65_535),
  },
  basePath: {
    flags: '--base-path <prefix>',
    description: 'prefix of every path, such as /v1',
    default: '/',
    schema: z
      .string()
      // The segments . and .. are refused: clients remove them from an address, so no request could match.
      .regex(/^(?:\/|(?:\/(?!\.\.?(?:\/|$))[A-Za-z0-9._~-]+)+\/?)$/, 'must be / or like /v1')
      .transform((path) => path.replace(/\/$/, '')),
  },
  database,
  ...loginGuardOptions,
  workers: {
    flags: '--workers <count>',
    description: 'number of processes that share the port, auto for one per processor; SIGHUP replaces them one by one',
    default: '1',
    schema: z.union([z.literal('auto'), integer(1, 1_024)], 'must be auto, or a whole number from 1 to 1024'),
  },
  logLevel: {
    flags: '--log-level <level>',
    description: 'minimum level of the log on stderr: debug, info, warn, error or silent',
    default: 'info',
    schema: oneOf('debug', 'info', 'warn', 'error', 'silent'),
  },
  ...inGroup('Database', {
    databaseReplica: {
      flags: '--database-replica <url>',
      description:
        'PostgreSQL: a replica to read from when it is up to date, as postgres://USER:PASSWORD@HOST:PORT/NAME',
      schema: z
        .string()
        .regex(/^postgres(?:ql)?:\/\//, 'must be postgres://…')
        .optional(),
    },
    replicaTimeout: {
      flags: '--replica-timeout <milliseconds>',
      description: 'PostgreSQL: how long a read waits for the replica before it goes to the primary',
      default: '500',
      schema: integer(1, 600_000),
    },
    databaseNext: {
      flags: '--database-next <url>',
      description:
        'the database that --database will move to while this gateway serves; the gateway continues on it (see move)',
      schema: databaseUrl.optional(),
    },
    mustExist: {
      flags: '--must-exist',
      description: 'refuse to start if there is no database yet, instead of creating an empty one',
      schema: booleanOption.optional(),
    },
    readOnly: {
      flags: '--read-only',
      description:
        'SQLite: write nothing, for a database on a read-only disk; the gateway answers reads and refreshes, and refuses sign-in and sign-out',
      schema: booleanOption.optional(),
    },
    check: {
      flags: '--check <extent>',
      description: 'SQLite: how thoroughly the database is verified at start: quick, full or off',
      default: 'quick',
      schema: oneOf('quick', 'full', 'off'),
    },
    noDemo: {
      flags: '--no-demo',
      description: 'do not load the demo workspace into an empty default database',
      schema: booleanOption.optional(),
    },
  }),
  ...storeOptions,
  ...inGroup('Proxies and origins', {
    trustedProxy: {
      flags: '--trusted-proxy <networks>',
      description:
        'addresses or networks (10.0.0.0/8) of proxies, separated by commas; the gateway trusts what they say about a client (Forwarded, X-Forwarded-*)',
      default: '',
      schema: list.pipe(
        z.array(
          z.string().superRefine((network, context) => {
            const problem = networkProblem(network)
            if (problem !== null) context.addIssue(problem)
          }),
        ),
      ),
    },
    proxyProtocol: {
      flags: '--proxy-protocol',
      description: 'connections from --trusted-proxy begin with a PROXY protocol header, version 1 or 2',
      schema: booleanOption.optional(),
    },
    corsOrigin: {
      flags: '--cors-origin <origins>',
      description:
        'origins whose pages may use the gateway, separated by commas; https://*.example.com for all below a domain, null and file:// for pages without an origin, * for all',
      default: '',
      schema: list.pipe(
        z.array(
          z.string().transform((text, context) => {
            const origin = normalOrigin(text)
            if (origin !== null) return origin
            context.addIssue(
              `"${text}" is not an origin: write it like https://app.example.com, https://*.example.com or *`,
            )
            return z.NEVER
          }),
        ),
      ),
    },
  }),
  ...MAIL_OPTIONS,
  ...ASSERTION_OPTIONS,
  tokenAlgorithm,
  ...keyEncryptionOptions,
  accessTokenTtl,
  ...sessionOptions,
  ...tokenNameOptions,
  ...rateLimitOptions,
  ...GRAPHQL_OPTIONS,
  ...protectionOptions,
  ...inGroup('Workers and shutdown', {
    workerTimeout: {
      flags: '--worker-timeout <seconds>',
      description: 'how long the event loop of a worker may hang before the worker is replaced; 0 for no limit',
      default: '30',
      schema: integer(0, 3_600),
    },
  }),
  ...shutdownOptions,
  ...sightOptions,
  ...auditOptions,
  ...inGroup('Import over HTTP', {
    importTokenFile: {
      flags: '--import-token-file <path>',
      description:
        'file with a bearer token that allows POST /import; with login guard client, clients with the scope import may call it too, even without this option',
      schema: nonEmpty.optional(),
    },
  }),
  ...retirementOptions,
  ...ledgerOptions,
  ...shadowOptions,
} as const satisfies Record<string, OptionRow>

export type ServeConfig = Config<typeof SERVE_OPTIONS>
