// Which entity tag of a conditional request makes the body unnecessary, given the answer and what the client may hold.
import { expect, test } from 'vitest'
import { matchesEntityTag, matchingEntityTag } from '../../src/http/caching/conditional.ts'
import { createAcceptEncodingReader } from '../../src/http/negotiation/content-coding.ts'

const PLAIN = '"state"'
const GZIP = '"state-gzip"'
const BR = '"state-br"'

type Row = readonly [
  ifNoneMatch: string | undefined,
  own: string,
  acceptEncoding: string | undefined,
  known: string | null,
]

test.each<Row>([
  [undefined, PLAIN, undefined, null],
  ['"other"', PLAIN, undefined, null],
  [PLAIN, PLAIN, undefined, PLAIN],
  [`"other", W/${PLAIN}`, PLAIN, undefined, PLAIN],
  // A quote that is not closed does not hide the tag behind it.
  [`"other, ${PLAIN}`, PLAIN, undefined, PLAIN],
  [' * ', PLAIN, undefined, PLAIN],
  ['\t*\t ', PLAIN, undefined, PLAIN],
  // This is no white space in HTTP.
  ['\xa0*', PLAIN, undefined, null],
  ['*', GZIP, 'gzip', GZIP],
  ['*', PLAIN, 'identity;q=0, gzip', PLAIN],
  [GZIP, GZIP, 'gzip', GZIP],
  [`"other", ${GZIP}`, GZIP, 'gzip', GZIP],
  // The client may hold any form that the request accepts.
  [PLAIN, GZIP, 'gzip', PLAIN],
  [BR, GZIP, 'gzip, br;q=0.5', BR],
  [GZIP, PLAIN, undefined, GZIP],
  [`${PLAIN}, ${GZIP}`, GZIP, 'gzip', GZIP],
  // The client cannot use a form that the request does not accept.
  [BR, GZIP, 'gzip', null],
  [PLAIN, GZIP, 'gzip, identity;q=0', null],
  [GZIP, GZIP, 'gzip, identity;q=0', GZIP],
  // The answer is uncoded, though the client wants another form: the tag is not enough, in a list or alone.
  [PLAIN, PLAIN, 'gzip, identity;q=0', null],
  [`"other", ${PLAIN}`, PLAIN, 'gzip, identity;q=0', null],
  [GZIP, PLAIN, 'gzip, identity;q=0', GZIP],
])(
  'If-None-Match: %s is compared with the tag %s, for Accept-Encoding: %s',
  (ifNoneMatch, own, acceptEncoding, known) => {
    expect(matchingEntityTag(ifNoneMatch, own, PLAIN, createAcceptEncodingReader()(acceptEncoding))).toBe(known)
  },
)

test.each([
  [undefined, false],
  ['', false],
  ['"other"', false],
  [PLAIN, true],
  ['*', true],
  [' *', true],
  ['*\xa0', false],
  [`"other",W/${PLAIN}`, true],
])('If-None-Match: %s matches the only form that exists: %s', (ifNoneMatch, matches) => {
  expect(matchesEntityTag(ifNoneMatch, PLAIN)).toBe(matches)
})
