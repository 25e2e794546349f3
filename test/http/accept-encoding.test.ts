// What an Accept-Encoding header allows.
import { expect, test } from 'vitest'
import { GatewayError } from '../../src/errors.ts'
import {
  createAcceptEncodingReader,
  requireAcceptableCoding,
  uncodedEntityTag,
} from '../../src/http/negotiation/content-coding.ts'
import { rememberHeaders } from '../../src/http/negotiation/weights.ts'

type Row = readonly [header: string | undefined, coding: string | null, all: readonly string[]]

test.each<Row>([
  [undefined, null, ['zstd', 'br', 'gzip', 'identity']],
  ['', null, ['identity']],
  ['gzip', 'gzip', ['gzip', 'identity']],
  ['gzip;q=0', null, ['identity']],
  ['*', 'gzip', ['gzip', 'identity']],
  ['*;q=0', null, []],
  ['br, *;q=0', 'br', ['br']],
  ['br, *', 'br', ['br', 'gzip', 'identity']],
  ['gzip;q=0.4, identity;q=0.5', null, ['gzip', 'identity']],
  ['gzip;q=0.5, identity;q=0.5', 'gzip', ['gzip', 'identity']],
  ['gzip;q=0.5, br;q=0.6, zstd;q=0.4, identity;q=0', 'br', ['zstd', 'br', 'gzip']],
  ['gzip, br, zstd', 'zstd', ['zstd', 'br', 'gzip', 'identity']],
  ['x-gzip;q=0.1', 'gzip', ['gzip', 'identity']],
  // Only the first hundred codings are read.
  [`${'x,'.repeat(99)}gzip`, 'gzip', ['gzip', 'identity']],
  [`${'x,'.repeat(100)}gzip`, null, ['identity']],
])('Accept-Encoding: %s is read', (header, coding, all) => {
  const read = createAcceptEncodingReader()
  // The second result is remembered.
  for (const accepted of [read(header), read(header)]) {
    expect([accepted.coding, [...accepted.all]]).toEqual([coding, all])
    expect(accepted.isIdentityAccepted).toBe(all.includes('identity'))
    if (all.length > 0) expect(() => requireAcceptableCoding(accepted)).not.toThrow()
    else expect(() => requireAcceptableCoding(accepted)).toThrow(GatewayError)
  }
})

test('an entity tag without its content coding is the tag of the uncoded form', () => {
  expect(uncodedEntityTag('"state-gzip"', 'gzip')).toBe('"state"')
  expect(uncodedEntityTag('"state"', undefined)).toBe('"state"')
})

test('the hundred short headers that were used last are remembered, and a long one is not', () => {
  const read: string[] = []
  const remembering = rememberHeaders((header) => {
    read.push(header)
    return header.length
  })
  const short = Array.from({ length: 100 }, (_, at) => `${at}`.padStart(200))
  const long = 'x'.repeat(201)
  for (const header of [...short, ...short, long, long]) remembering(header)
  expect(read).toEqual([...short, long, long])
})

test('made-up headers do not take the place of one that clients send', () => {
  const read: string[] = []
  const remembering = rememberHeaders((header) => {
    read.push(header)
    return header.length
  })
  for (let at = 0; at < 1_000; at += 1) remembering(`made up ${at}`)
  for (let at = 1_000; at < 2_000; at += 1) for (const header of ['gzip, br', `made up ${at}`]) remembering(header)
  expect(read.filter((header) => header === 'gzip, br')).toHaveLength(1)
})
