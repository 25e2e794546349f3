// Mutants of the folder `auth` (who signs in, and with what) that nobody outside could notice.
import type { Equivalent } from './equivalent.ts'

export const AUTH_EQUIVALENTS: readonly Equivalent[] = [
  {
    path: 'src/auth/bearer.ts',
    line: "if (authorization.startsWith('Bearer e')) return authorization.slice('Bearer '.length)",
    to: 'false',
    reason: 'the pattern below reads the same',
  },
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
    path: 'src/auth/socket-tables.ts',
    line: "const ordered = endianness() === 'LE' ? words.map((word) => word.toReversed()) : words",
    to: 'true',
    reason: 'on a machine with this byte order; no other is at hand',
  },
  {
    path: 'src/auth/sessions.ts',
    line: 'const claims = verified instanceof Promise ? await verified : verified',
    to: 'true',
    reason: 'what is there already is waited for, and is the same',
  },
  {
    path: 'src/auth/audit/audit-log.ts',
    line: 'if ((await send()) || hasSentAgain) salt = await store.auditSalt()',
    to: 'true',
    reason: 'the salt is read again where nothing was written either, and is the same',
  },
  {
    path: 'src/auth/mail/requests.ts',
    line: "if (request.outcome === 'mailed') hasMails = true",
    to: 'true',
    reason: 'the outbox looks once more, and finds nothing to send',
  },
  {
    path: 'src/auth/tokens/access-token.ts',
    line: 'younger.delete(signatureOf(token))',
    reason: 'as of the older ones',
  },
  {
    path: 'src/auth/tokens/access-token.ts',
    line: 'forget(token)',
    reason: 'a token that has ended, or whose key is gone, is refused each time it is asked about',
  },
  {
    path: 'src/auth/tokens/access-token.ts',
    line: 'if (header.kid !== kid) header = { kid, part: toPart({ alg: algorithm, typ: TYPE, kid }) }',
    to: 'true',
    reason: 'the part is made again, and is the same',
  },
  {
    path: 'src/auth/tokens/key-cipher.ts',
    line: 'if (!iv || !ciphertext || !tag) return null',
    to: 'false',
    reason: 'what lacks a part cannot be decrypted either',
  },
  {
    path: 'src/auth/tokens/key-cipher.ts',
    line: 'if (!iv || !ciphertext || !tag) return null',
    to: '&&',
    reason: 'what lacks a part cannot be decrypted either',
  },
  {
    path: 'src/auth/recent-sessions.ts',
    line: 'if (isEnded || !isRecent(at)) seen.delete(id)',
    reason: 'what is too old, or has ended, is looked up again, there or not',
  },
  {
    path: 'src/auth/repeat-in-background.ts',
    line: 'clearTimeout(timer)',
    reason: 'the timer keeps nothing running, and finds that all is closed',
  },
  {
    path: 'src/auth/limits/token-buckets.ts',
    line: 'return emptyForMs > ROUNDING_MS ? emptyForMs : 0',
    to: '>=',
    reason: 'no wait is exactly that long',
  },
  {
    path: 'src/auth/mail/mail-server.ts',
    line: 'disableFileAccess: true,',
    reason: 'nothing of a mail names a file',
  },
  {
    path: 'src/auth/mail/mail-server.ts',
    line: 'disableUrlAccess: true,',
    reason: 'nothing of a mail names an address to fetch',
  },
]
