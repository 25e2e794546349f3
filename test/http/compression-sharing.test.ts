// Who shares the bytes of a compression that is in progress.
import { gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { createResponseCache } from '../../src/http/caching/response-cache.ts'
import { createCompression } from '../../src/http/compression/compression.ts'
import { createInFlightBytes } from '../../src/http/limits/in-flight-bytes.ts'
import { createAcceptEncodingReader } from '../../src/http/negotiation/content-coding.ts'
import { liveSession } from '../support/live-session.ts'
import { ANA, BEN } from '../support/workspaces.ts'

const MIB = 1_048_576

test('users without a workspace who ask the same at once each get their own answer', async () => {
  const { encode } = createCompression(createResponseCache(MIB), createInFlightBytes(MIB))
  const gzip = createAcceptEncodingReader()('gzip')
  const answers = [ANA, BEN].map(async (email) => {
    const body = Buffer.from(email.repeat(1_000))
    const { body: coded } = await encode(
      liveSession(null, ''),
      '{ me { email } }',
      { status: 200, headers: {}, body },
      gzip,
    )
    return coded instanceof Uint8Array ? String(gunzipSync(coded)) : coded
  })
  expect(await Promise.all(answers)).toEqual([ANA.repeat(1_000), BEN.repeat(1_000)])
})
