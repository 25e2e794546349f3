// Tests the shown size of an export's elements: it equals the size of the download.
import { expect, test } from 'vitest'
import { byteLengthOf, bytesOf, elementsOf } from '../../src/explorer/workspace/project/elements.ts'

const BYTES = Uint8Array.of(0, 255, 62, 63, 128, 7, 250)

test.each([
  ...Array.from({ length: BYTES.length + 1 }, (_, count) => Buffer.from(BYTES.subarray(0, count)).toString('base64')),
  '/w==\n',
  ' AP8+\r\nP4A=\t',
])('byteLengthOf() of the base64 content %j is the size of the download', (content) => {
  const [element] = elementsOf(JSON.stringify([{ path: 'a.bin', encoding: 'base64', content }]))
  if (!element) throw new Error('there is no element')
  expect(Buffer.from(bytesOf(element))).toEqual(Buffer.from(content, 'base64'))
  expect(byteLengthOf(element)).toBe(bytesOf(element).byteLength)
})

test.each([
  ['that is base64 without padding', 'base64', '/w'],
  ['that is base64url', 'base64', '_-8='],
  ['that is text', undefined, 'grüße 😀'],
])('byteLengthOf() of content %s is the size of its text', (_what, encoding, content) => {
  const [element] = elementsOf(JSON.stringify([{ path: 'a.txt', encoding, content }]))
  if (!element) throw new Error('there is no element')
  expect(byteLengthOf(element)).toBe(Buffer.byteLength(content))
})

test.each([
  ['', true],
  ['==', true],
  ['=', false],
])('20 MB that are labelled base64 and end in %j are read, as base64: %s', (end, isBase64) => {
  const content = 'A'.repeat(20_000_000 - (isBase64 ? end.length : 0)) + end
  const [element] = elementsOf(JSON.stringify([{ path: 'a.mp4', encoding: 'base64', content }]))
  if (!element) throw new Error('there is no element')
  expect(element.isBase64).toBe(isBase64)
  expect(byteLengthOf(element)).toBe(isBase64 ? 15_000_000 - end.length : content.length)
})
