// The documents that clients send, kept once somebody who signed in has sent one twice.
import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { createDocumentCache } from './document-cache.ts'
import type { DocumentPolicy, PrepareDocument } from './prepare-document.ts'
import type { PreparedDocument } from './prepared-document.ts'

/** Of one letter of a document, with its syntax tree. Measured: 77 to 151, the most for names of two letters. */
const BYTES_PER_LETTER = 160
/**
 * Of an owner's share, that the plans of one document may take: the longest operation that the limits allow still has its plan kept, and
 * a document with many conditions does not push out all others of its owner.
 */
const MAX_PLANS_SHARE = 2 / 3
/** Texts that were seen once, as hashes. */
const MAX_SEEN = 10_000

export interface DocumentsOptions {
  /** Of documents and their plans; 0 keeps none. */
  readonly maxBytes: number
  /** The part of them that one user may fill, 0 to 1. */
  readonly maxShare: number
}

/** `owner` is the user who asks. It is null without a session: then nothing is cached. */
export interface Documents {
  readonly find: (text: string, owner: number | null) => PreparedDocument | undefined
  /** Of a text that is not found. Throws `RefusedDocument`. */
  readonly prepare: (text: string, owner: number | null, policy: DocumentPolicy) => PreparedDocument
}

/** Refused documents are never kept, and one user's documents do not push out what others use. */
export function createDocuments(prepare: PrepareDocument, options: DocumentsOptions): Documents {
  const kept = createDocumentCache<PreparedDocument>(options)
  const seen = new LRUCache<string, true>({ max: MAX_SEEN })

  return {
    find: (text, owner) => (owner === null ? undefined : kept.get(text, owner)),
    prepare(text, owner, policy) {
      if (owner === null) return prepare(text, policy, null)
      const key = hash('sha1', text, 'base64')
      const byteLength = text.length * BYTES_PER_LETTER
      const maxPlanBytes = Math.min(Math.floor(kept.maxOwnedBytes * MAX_PLANS_SHARE), kept.maxOwnedBytes - byteLength)
      const isKept = maxPlanBytes > 0 && seen.has(key)
      const onResize = (planBytes: number) => kept.resize(text, document, byteLength + planBytes)
      const document = prepare(text, policy, isKept ? { maxBytes: maxPlanBytes, onResize } : null)
      seen.set(key, true)
      if (isKept) kept.set(text, owner, document, byteLength)
      return document
    },
  }
}
