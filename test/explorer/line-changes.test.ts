// Tests the line-by-line comparison of two texts, and which differences it ignores as white space.
import { expect, test } from 'vitest'
import { diffLines } from '../../src/explorer/workspace/project/line-changes.ts'

test.each([
  ['the indentation of JSON', '{"a":[1,2]}', '{\n  "a": [ 1, 2 ]\n}\n'],
  ['the line endings of JSON', '{\r\n"a":1\r\n}', '{\n"a":1\n}'],
  ['the line endings of a text', 'one\r\ntwo\r\n', 'one\ntwo\n'],
])('diffLines() lists nothing if only %s differs', (_what, before, after) => {
  expect(diffLines(before, after)).toEqual([])
})

test.each([
  ['a space in a string of JSON', '{"a":"b c"}', '{"a":"b  c"}'],
  ['the notation of a number', '[1.0]', '[1.00]'],
  ['the indentation of a text', 'if a:\n  b\n', 'if a:\n    b\n'],
  ['the newline at the end of a text', 'one', 'one\n'],
])('diffLines() lists a difference in %s', (_what, before, after) => {
  expect(diffLines(before, after)).not.toEqual([])
})
