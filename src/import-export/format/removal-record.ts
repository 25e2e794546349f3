// Parses the records of the import format that remove something: `"removed":true` in place of `data`.
import type { Change, DocumentKind } from '../../store/contract.ts'
import { type Envelope, integerText, RecordError, requireName, requireText } from './envelope.ts'
import { toSortableUtc } from './timestamp.ts'

export interface RemovalRecord {
  readonly kind: 'removal'
  readonly email: string
  readonly change: Extract<Change, { readonly type: 'removeUser' | 'removeDocument' | 'removeExports' }>
}

const DIGEST = /^[0-9a-f]{64}$/

type ReadRemoval = (envelope: Envelope, email: string) => RemovalRecord['change']

const REMOVAL_READERS: Readonly<Record<string, ReadRemoval>> = {
  user: (_, email) => ({ type: 'removeUser', email }),
  project: documentRemoval('project'),
  template: documentRemoval('template'),
  uiLibrary: documentRemoval('uiLibrary'),
  export: exportRemoval,
}

export function isRemoval({ members }: Envelope): boolean {
  return members.has('removed')
}

/** Throws `RecordError` for a bad record. */
export function readRemoval(
  kind: string,
  envelope: Envelope,
  requireEmail: (envelope: Envelope) => string,
): RemovalRecord {
  if (envelope.value.removed !== true) throw new RecordError('"removed" can only be true')
  if (envelope.members.has('data')) throw new RecordError('"removed" takes the place of "data": give only one of them')
  const read = REMOVAL_READERS[kind]
  if (!read) throw new RecordError('an element cannot be removed: remove its export')
  const email = requireEmail(envelope)
  return { kind: 'removal', email, change: read(envelope, email) }
}

function documentRemoval(kind: DocumentKind): ReadRemoval {
  return (envelope, email) => ({ type: 'removeDocument', email, kind, id: requireId(envelope) })
}

/** An id as documents have it: a string, or an integer with all its digits. */
function requireId(envelope: Envelope): string {
  const { id } = envelope.value
  const digits = typeof id === 'number' ? integerText(envelope.line, 'id') : null
  if (digits !== null) return digits
  if (typeof id !== 'string' || id === '')
    throw new RecordError('"id" must be a string that is not empty, or an integer')
  return requireName(envelope, 'id')
}

function exportRemoval(envelope: Envelope, email: string): RemovalRecord['change'] {
  const has = (name: string) => envelope.members.has(name)
  const digest = has('digest') ? requireText(envelope, 'digest') : null
  if (digest !== null && !DIGEST.test(digest)) {
    throw new RecordError('"digest" is not a SHA-256 in lower-case hexadecimal')
  }
  if (digest === null && !(has('r') && has('createdAt'))) {
    throw new RecordError('name the export with "r" and "createdAt", or with "digest"')
  }
  const instant = has('createdAt') ? toSortableUtc(requireText(envelope, 'createdAt')) : null
  if (has('createdAt') && instant === null) throw new RecordError('"createdAt" is not an RFC 3339 date and time')
  return { type: 'removeExports', email, ref: has('r') ? requireName(envelope, 'r') : null, instant, digest }
}
