// The table of planted faults is of the sources as they are: a fault that nobody can plant is found by nobody.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { PLANTED_FAULTS } from './planted-faults.ts'

test('there are ten faults or more', () => {
  expect(PLANTED_FAULTS.length).toBeGreaterThanOrEqual(10)
})

test.for(PLANTED_FAULTS)('$name: can be planted', ({ file, find, replacement }) => {
  const source = readFileSync(new URL(`../../src/${file}`, import.meta.url), 'utf8')
  expect(source.split(find)).toHaveLength(2)
  expect(replacement).not.toBe(find)
})
