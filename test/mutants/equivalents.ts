// Mutants that change nothing anybody could see, each with its reason: they are not counted.
import { EXECUTION_EQUIVALENTS } from './execution-equivalents.ts'
import type { PlacedMutant } from './try-mutant.ts'

export interface Equivalent {
  readonly path: string
  /** The whole line, without the white space around it. */
  readonly line: string
  /** What is replaced in it, and by what; every mutant of the line where neither is given. */
  readonly from?: string
  readonly to?: string
  readonly reason: string
}

const EQUIVALENTS: readonly Equivalent[] = [
  {
    path: 'src/auth/tokens/access-token.ts',
    line: 'older.delete(signatureOf(token))',
    reason: 'a token that has ended is refused each time it is asked about; it is only remembered for longer',
  },
  {
    path: 'src/auth/guards/socket-owner.ts',
    line: 'if (owner !== null) owners.set(peer, owner)',
    to: 'true',
    reason: 'null is looked up again, remembered or not',
  },
  {
    path: 'src/auth/guards/socket-owner.ts',
    line: "const ordered = endianness() === 'LE' ? words.map((word) => word.toReversed()) : words",
    to: 'true',
    reason: 'on a machine with this byte order; no other is at hand',
  },
  {
    path: 'src/http/server/server.ts',
    line: 'const { bodyLimitBytes, trustedProxies = [], proxyProtocol = false } = options',
    to: 'true',
    reason: 'whoever lists proxies says it; without listed proxies no PROXY header is read',
  },
  {
    path: 'src/auth/audit/audit-log.ts',
    line: 'if (entries.length > 0) salt = await store.auditSalt()',
    to: 'true',
    reason: 'the salt is read again where nothing was written either, and is the same',
  },
  {
    path: 'src/resolvers/identity/node-id.ts',
    line: 'if (known !== undefined) return known',
    to: 'false',
    reason: 'what was remembered is made again, and is the same',
  },
  {
    path: 'src/resolvers/tracing/traced-reads.ts',
    line: 'if (record.steps === null) return services',
    to: 'false',
    reason: 'steps of a request that is not traced are counted nowhere',
  },
  {
    path: 'src/resolvers/pagination/paged.ts',
    line: 'return { [PAGES]: true, pages }',
    to: 'false',
    reason: 'that it is there says it, not what it is',
  },
  {
    path: 'src/auth/mail/requests.ts',
    line: "if (request.outcome === 'mailed') hasMails = true",
    to: 'true',
    reason: 'the outbox looks once more, and finds nothing to send',
  },
  ...EXECUTION_EQUIVALENTS,
]

export function equivalentOf({ path, line, from, to }: PlacedMutant): Equivalent | undefined {
  return EQUIVALENTS.find(
    (known) =>
      known.path === path &&
      known.line === line &&
      (known.from === undefined || known.from === from) &&
      (known.to === undefined || known.to === to),
  )
}
