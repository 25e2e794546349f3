// Caches prepared GraphQL documents. A document is cached once signed-in users have sent it twice.
import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { createDocumentCache, type DocumentCacheOptions } from './document-cache.ts'
import type { DocumentPolicy, PrepareDocument } from './prepare-document.ts'
import type { PreparedDocument } from './prepared-document.ts'

/** Memory per character of a document, with its syntax tree. Measured: 77 to 151, the most for two-letter names. */
const BYTES_PER_LETTER = 160
/**
 * Fraction of an owner's share that the plans of one document may take. It is large enough to cache the plan of the
 * longest operation that the limits allow, and keeps a document with many conditions from evicting all others of its
 * owner.
 */
const MAX_PLANS_SHARE = 2 / 3
/** Maximum number of hashes of documents that were sent before. */
const MAX_SEEN = 10_000

/** `owner` is the user who sends the request. It is null without a session, and then nothing is cached. */
export interface Documents {
  readonly find: (text: string, owner: number | null) => PreparedDocument | undefined
  /** Prepares a document that `find` did not find. Throws `RefusedDocument`. */
  readonly prepare: (text: string, owner: number | null, policy: DocumentPolicy) => PreparedDocument
}

/** Refused documents are never cached, and one user's documents do not evict those that others use. */
export function createDocuments(prepare: PrepareDocument, options: DocumentCacheOptions): Documents {
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
