// The elements of an export: how many bytes each is, as it is downloaded.
import { expect, test } from 'vitest'
import { byteLengthOf, bytesOf, elementsOf } from '../../src/explorer/workspace/project/elements.ts'

const BYTES = Uint8Array.of(0, 255, 62, 63, 128, 7, 250)

test.each([
  ...Array.from({ length: BYTES.length + 1 }, (_, count) => Buffer.from(BYTES.subarray(0, count)).toString('base64')),
  '/w==\n',
  ' AP8+\r\nP4A=\t',
])('the size of the bytes %j is that of what is downloaded', (content) => {
  const [element] = elementsOf(JSON.stringify([{ path: 'a.bin', encoding: 'base64', content }]))
  if (!element) throw new Error('there is no element')
  expect(Buffer.from(bytesOf(element))).toEqual(Buffer.from(content, 'base64'))
  expect(byteLengthOf(element)).toBe(bytesOf(element).byteLength)
})

test.each([
  ['without the padding', 'base64', '/w'],
  ['of the alphabet for addresses', 'base64', '_-8='],
  ['that is text', undefined, 'grüße 😀'],
])('the size of a content %s is that of its text', (_what, encoding, content) => {
  const [element] = elementsOf(JSON.stringify([{ path: 'a.txt', encoding, content }]))
  if (!element) throw new Error('there is no element')
  expect(byteLengthOf(element)).toBe(Buffer.byteLength(content))
})

test.each([
  ['', true],
  ['==', true],
  ['=', false],
])('20 MB that are called base64 and end in %j are read, as bytes: %s', (end, isBase64) => {
  const content = 'A'.repeat(20_000_000 - (isBase64 ? end.length : 0)) + end
  const [element] = elementsOf(JSON.stringify([{ path: 'a.mp4', encoding: 'base64', content }]))
  if (!element) throw new Error('there is no element')
  expect(element.isBase64).toBe(isBase64)
  expect(byteLengthOf(element)).toBe(isBase64 ? 15_000_000 - end.length : content.length)
})
