// The table of planted faults fits the current sources: a fault that cannot be planted cannot be found.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { PLANTED_FAULTS } from './planted-faults.ts'

test('there are at least ten faults', () => {
  expect(PLANTED_FAULTS.length).toBeGreaterThanOrEqual(10)
})

test.for(PLANTED_FAULTS)('the fault can be planted: $name', ({ file, find, replacement }) => {
  const source = readFileSync(new URL(`../../src/${file}`, import.meta.url), 'utf8')
  expect(source.split(find)).toHaveLength(2)
  expect(replacement).not.toBe(find)
})
