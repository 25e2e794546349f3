// The documents that clients send, kept once somebody who signed in has sent one twice.
import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { createDocumentCache } from './document-cache.ts'
import type { DocumentPolicy, PrepareDocument } from './prepare-document.ts'
import type { PreparedDocument } from './prepared-document.ts'

/** Of one letter of a document, with its syntax tree and its plans. Measured: 100 to 250 for documents of frontends. */
const BYTES_PER_LETTER = 256
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

  function isSecondSight(text: string): boolean {
    const key = hash('sha1', text, 'base64')
    if (seen.get(key)) return true
    seen.set(key, true)
    return false
  }

  return {
    find: (text, owner) => (owner === null ? undefined : kept.get(text, owner)),
    prepare(text, owner, policy) {
      const document = prepare(text, policy)
      if (owner !== null && isSecondSight(text)) kept.set(text, owner, document, text.length * BYTES_PER_LETTER)
      return document
    },
  }
}
