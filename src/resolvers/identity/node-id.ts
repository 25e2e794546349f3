// Creates and parses global ids: base64url of one type byte, 14 bytes that identify the owner, and the key within the
// owner's data.
import { hash } from 'node:crypto'
import type { DocumentKind, ExportKey, StoredDocument, StoredElement, StoredExport } from '../../store/contract.ts'
import { MAX_NAME_LENGTH } from '../../store/reads-contract.ts'

/** The first byte of an id. Only append to this table: an issued id must keep its meaning. */
const TYPE_BYTES = { User: 1, project: 2, template: 3, uiLibrary: 4, Export: 5, ExportElement: 6, Session: 7 } as const
type NodeType = keyof typeof TYPE_BYTES

/** Type and owner. A multiple of three, so that ids of the same type and owner begin with the same base64url text. */
const HEAD_BYTES = 15
/** The 23 digits of `2026-01-01T00:00:00.000000000Z` with four bits each, padded by one digit. */
const INSTANT_BYTES = 12
const DIGEST_BYTES = 32
/** Also a multiple of three. */
const POSITION_BYTES = 6
/**
 * Length of the id of an element whose export has the longest reference; a UTF-16 unit takes at most three bytes.
 * Longer texts are not decoded, because one request may name the same text a thousand times.
 */
const MAX_ID_LENGTH = Math.ceil(
  ((HEAD_BYTES + POSITION_BYTES + INSTANT_BYTES + DIGEST_BYTES + 3 * MAX_NAME_LENGTH) * 4) / 3,
)

const INSTANT = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\d{9})0$/

export type NodeKey =
  | { readonly type: 'User' }
  | { readonly type: DocumentKind; readonly id: string }
  | { readonly type: 'Session'; readonly id: string }
  | { readonly type: 'Export'; readonly key: NamedExport }
  | { readonly type: 'ExportElement'; readonly key: NamedExport; readonly position: number }

type NamedExport = Pick<ExportKey, 'ref' | 'instant' | 'digest'>

/** Creates and reads the ids of one user's data, for one request. */
export interface NodeIds {
  readonly user: () => string
  readonly document: (document: Pick<StoredDocument, 'kind' | 'id'>) => string
  readonly session: (session: { readonly id: string }) => string
  readonly export: (snapshot: NamedExport) => string
  readonly element: (snapshot: StoredExport, element: Pick<StoredElement, 'position'>) => string
  /** The key that the id contains; null for an id of another user, and for a text that was never issued. */
  readonly read: (id: string) => NodeKey | null
}

export function createNodeIds(email: string): NodeIds {
  let owner: Buffer | null = null
  const heads = new Map<NodeType, string>()
  const tails = new Map<StoredExport, string>()

  function headOf(type: NodeType): string {
    const known = heads.get(type)
    if (known !== undefined) return known
    owner ??= ownerOf(email)
    const head = Buffer.concat([Buffer.of(TYPE_BYTES[type]), owner]).toString('base64url')
    heads.set(type, head)
    return head
  }

  function tailOf(snapshot: StoredExport): string {
    const known = tails.get(snapshot)
    if (known !== undefined) return known
    const tail = exportTail(snapshot)
    tails.set(snapshot, tail)
    return tail
  }

  function issue(key: NodeKey): string {
    if (key.type === 'User') return headOf('User')
    if (key.type === 'Export') return headOf('Export') + exportTail(key.key)
    if (key.type === 'ExportElement') return headOf('ExportElement') + positionText(key.position) + exportTail(key.key)
    return headOf(key.type) + Buffer.from(key.id).toString('base64url')
  }

  return {
    user: () => headOf('User'),
    document: ({ kind, id }) => headOf(kind) + Buffer.from(id).toString('base64url'),
    session: ({ id }) => headOf('Session') + Buffer.from(id).toString('base64url'),
    export: (snapshot) => headOf('Export') + exportTail(snapshot),
    element: (snapshot, { position }) => headOf('ExportElement') + positionText(position) + tailOf(snapshot),
    read(id) {
      if (id.length > MAX_ID_LENGTH) return null
      const bytes = Buffer.from(id, 'base64url')
      const type = TYPES.find((candidate) => TYPE_BYTES[candidate] === bytes[0])
      if (type === undefined) return null
      const key = readKey(type, bytes.subarray(HEAD_BYTES))
      // Accepts only ids of this owner in the canonical spelling, because Node decodes base64url and UTF-8 leniently.
      return key && issue(key) === id ? key : null
    },
  }
}

const TYPES = Object.keys(TYPE_BYTES) as readonly NodeType[]

/** Not the plain hash of the email, because others use plain hashes to look emails up. */
function ownerOf(email: string): Buffer {
  return hash('sha256', `workspace-gateway user ${email}`, 'buffer').subarray(0, HEAD_BYTES - 1)
}

function positionText(position: number): string {
  const bytes = Buffer.allocUnsafe(POSITION_BYTES)
  bytes.writeUIntBE(position, 0, POSITION_BYTES)
  return bytes.toString('base64url')
}

function exportTail({ ref, instant, digest }: NamedExport): string {
  const name = Buffer.from(`${instant.replace(/\D/g, '')}0${digest}`, 'hex')
  return Buffer.concat([name, Buffer.from(ref)]).toString('base64url')
}

/** Offset after the head at which a document id, session id or reference begins. */
function nameStartOf(type: NodeType): number {
  if (type === 'Export') return INSTANT_BYTES + DIGEST_BYTES
  return type === 'ExportElement' ? POSITION_BYTES + INSTANT_BYTES + DIGEST_BYTES : 0
}

function readKey(type: NodeType, bytes: Buffer): NodeKey | null {
  if (type === 'User') return { type }
  const start = nameStartOf(type)
  // No stored name contains U+0000, and PostgreSQL rejects parameters that do.
  if (bytes.byteLength < start || bytes.includes(0, start)) return null
  if (type !== 'Export' && type !== 'ExportElement') return { type, id: bytes.toString() }
  const key = readExport(bytes.subarray(start - INSTANT_BYTES - DIGEST_BYTES))
  if (type === 'Export') return { type, key }
  const position = bytes.readUIntBE(0, POSITION_BYTES)
  // Positions begin at 1. A forged id must not ask for an element before the first.
  return position === 0 ? null : { type, key, position }
}

function readExport(bytes: Buffer): NamedExport {
  const instant = bytes.toString('hex', 0, INSTANT_BYTES).replace(INSTANT, '$1-$2-$3T$4:$5:$6.$7Z')
  const digest = bytes.toString('hex', INSTANT_BYTES, INSTANT_BYTES + DIGEST_BYTES)
  return { instant, digest, ref: bytes.toString('utf8', INSTANT_BYTES + DIGEST_BYTES) }
}
