// Serves a document that is the same for every client while the process lives, and compresses it once per coding.
import type { Awaitable } from '../../store/contract.ts'
import { compressWhole } from '../compression/codecs.ts'
import type { Endpoint } from '../handler.ts'
import { lazyAsync } from '../lazy.ts'
import {
  type Coding,
  codedEntityTag,
  createAcceptEncodingReader,
  requireAcceptableCoding,
} from '../negotiation/content-coding.ts'
import { entityTag, type GatewayResponse, type Headers } from '../response.ts'
import { matchingEntityTag, requireMatch } from './conditional.ts'

/** The endpoint needs no token. */
export function createConstantDocument(path: string, contentType: string, text: string): Endpoint {
  // All responses share this buffer: one copy per unread response would fill the memory.
  const body = Buffer.from(text)
  const tag = entityTag(body)
  const caching: Headers = { 'cache-control': 'no-cache', vary: 'Accept-Encoding' }
  const common: Headers = { 'content-type': contentType, ...caching }
  const plain: GatewayResponse = { status: 200, headers: { ...common, etag: tag }, body }
  const coded = new Map<Coding, () => Awaitable<GatewayResponse>>()
  const readAcceptEncoding = createAcceptEncodingReader()

  async function encode(coding: Coding): Promise<GatewayResponse> {
    const headers = { ...common, etag: codedEntityTag(tag, coding), 'content-encoding': coding }
    return { status: 200, headers, body: await compressWhole(body, coding) }
  }

  function encodeOnce(coding: Coding): Awaitable<GatewayResponse> {
    const made = coded.get(coding) ?? lazyAsync(() => encode(coding))
    coded.set(coding, made)
    return made()
  }

  return {
    method: 'GET',
    path,
    async handle(request) {
      const accepted = readAcceptEncoding(request.header('accept-encoding'))
      requireAcceptableCoding(accepted)
      const ownTag = accepted.coding === null ? tag : codedEntityTag(tag, accepted.coding)
      requireMatch(request.header('if-match'), ownTag, tag, accepted)
      const known = matchingEntityTag(request.header('if-none-match'), ownTag, tag, accepted)
      if (known !== null) return { status: 304, headers: { ...caching, etag: known }, body: null }
      return accepted.coding === null ? plain : encodeOnce(accepted.coding)
    },
  }
}
