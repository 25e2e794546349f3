// Tests which mutants a source has, and which tests reach a place in it.
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { comesTo, type TestRun, thoroughness } from './covering-tests.ts'
import { EQUIVALENTS, isOf } from './equivalents.ts'
import { makeMutants } from './make-mutants.ts'
import { placedMutants } from './try-mutant.ts'

const ROOT = join(import.meta.dirname, '../..')

function mutated(source: string): readonly string[] {
  return makeMutants('source.ts', source).map(
    ({ start, end, replacement }) => source.slice(0, start) + replacement + source.slice(end),
  )
}

test('makeMutants changes operators, conditions, booleans, negations and calls, but no types or joined texts', () => {
  expect(mutated('const a = b < c')).toEqual(['const a = b <= c'])
  expect(mutated('if (a) b()')).toEqual(['if (true) b()', 'if (false) b()', 'if (a) ;'])
  expect(mutated('const a = !b ?? true').toSorted()).toEqual([
    'const a = !b && true',
    'const a = !b ?? false',
    'const a = b ?? true',
  ])
  expect(mutated('const a: Map<true, false> = x as unknown')).toEqual([])
  expect(mutated("throw new Error('a' + b)")).toEqual([])
})

test('a run reaches a place if the smallest range around it has a count above 0, in any process', () => {
  const range = (startOffset: number, endOffset: number, count: number) => ({ startOffset, endOffset, count })
  const run: TestRun = {
    file: 'a.test.ts',
    milliseconds: 1,
    covered: { 'src/a.ts': [range(0, 100, 1), range(10, 50, 3), range(20, 30, 0), range(60, 90, 0), range(60, 90, 2)] },
  }
  expect([15, 25, 70].map((offset) => comesTo(run, 'src/a.ts', offset))).toEqual([true, false, true])
  expect([comesTo(run, 'src/a.ts', 100), comesTo(run, 'src/b.ts', 15)]).toEqual([false, false])
  expect(thoroughness(run, 'src/a.ts')).toBe(3)
})

test('every listed equivalent matches a mutant of an existing line', () => {
  const mutants = new Map(
    [...new Set(EQUIVALENTS.map(({ path }) => path))].map((path) => [path, placedMutants(ROOT, path)]),
  )
  const gone = EQUIVALENTS.filter((known) => !mutants.get(known.path)?.some((mutant) => isOf(known, mutant)))
  expect(gone.map(({ path, line }) => `${path}: ${line}`)).toEqual([])
})
