// What is said of two texts that differ: line by line, or that it is white space alone.
import { expect, test } from 'vitest'
import { diffLines } from '../../src/explorer/workspace/project/line-changes.ts'

test.each([
  ['how JSON is indented', '{"a":[1,2]}', '{\n  "a": [ 1, 2 ]\n}\n'],
  ['how the lines of JSON end', '{\r\n"a":1\r\n}', '{\n"a":1\n}'],
  ['how the lines of a text end', 'one\r\ntwo\r\n', 'one\ntwo\n'],
])('nothing is listed where only %s differs', (_what, before, after) => {
  expect(diffLines(before, after)).toEqual([])
})

test.each([
  ['a space in a string of JSON', '{"a":"b c"}', '{"a":"b  c"}'],
  ['how a number is written', '[1.0]', '[1.00]'],
  ['the indentation of a text', 'if a:\n  b\n', 'if a:\n    b\n'],
  ['the end of the last line of a text', 'one', 'one\n'],
])('%s is listed', (_what, before, after) => {
  expect(diffLines(before, after)).not.toEqual([])
})
