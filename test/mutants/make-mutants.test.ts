// Tests which mutants a source has, and which tests reach a place in it.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { comesTo, type TestRun, thoroughness } from './covering-tests.ts'
import { EQUIVALENTS, isOf } from './equivalents.ts'
import { makeMutants } from './make-mutants.ts'
import { placedMutants } from './try-mutant.ts'

const ROOT = join(import.meta.dirname, '../..')

function mutated(source: string, file = 'source.ts'): readonly string[] {
  return makeMutants(file, source).map(
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

/** Every change of an SQL text, without the quotes around it. */
function mutatedSql(sql: string): readonly string[] {
  return mutated(`\`${sql}\``, 'src/store/source.ts').map((text) => text.slice(1, -1))
}

test('makeMutants changes conditions, orders, limits, joins, counts, locks, conflicts and assignments of the SQL of a store', () => {
  expect(mutatedSql('select a from b where c = ? and d is distinct from ?')).toEqual([
    'select a from b where (c = ? or true) and d is distinct from ?',
    'select a from b where c = ? and (d is distinct from ? or true)',
  ])
  expect(mutatedSql('where (a < 1 or b between 2 and 3)')).toEqual([
    'where ((a < 1 or b between 2 and 3) or true)',
    'where ((a < 1 and false) or b between 2 and 3)',
    'where (a <= 1 or b between 2 and 3)',
    'where (a < 1 or (b between 2 and 3 and false))',
  ])
  expect(mutatedSql('select a from b order by c, d desc limit ?')).toEqual([
    'select a from b  limit ?',
    'select a from b order by c desc, d desc limit ?',
    'select a from b order by c, d asc limit ?',
    'select a from b order by c, d desc limit ? + 1',
  ])
  expect(mutatedSql('select max(a) from b join c on b.d = c.d')).toEqual([
    'select min(a) from b join c on b.d = c.d',
    'select max(a) from b left join c on b.d = c.d',
    'select max(a) from b join c on (b.d = c.d or true)',
  ])
  expect(mutatedSql('select count(*) from a left join b on true')).toEqual([
    'select count(*) + 1 from a left join b on true',
    'select count(*) from a join b on true',
  ])
  expect(mutatedSql('select a from b for update skip locked')).toEqual([
    'select a from b  skip locked',
    'select a from b for update ',
  ])
  expect(mutatedSql('insert into a (b) values (?) on conflict (b) do nothing')).toEqual([
    'insert into a (b) values (?) ',
  ])
  expect(mutatedSql('update a set b = ?, c = d + 1')).toEqual([
    'update a set b = case when true then a.b else ? end, c = d + 1',
    'update a set b = ?, c = case when true then a.c else d + 1 end',
  ])
  expect(mutatedSql('insert into a (b) values (1) on conflict (b) do update set b = excluded.b where a.c')).toEqual([
    'insert into a (b) values (1) on conflict (b) do update set b = case when true then a.b else excluded.b end where a.c',
    'insert into a (b) values (1) on conflict (b) do update set b = excluded.b where (a.c or true)',
  ])
})

test('makeMutants changes SQL around interpolations, but no comments, triggers, messages or SQL outside of a store', () => {
  const sql = `from a \${WHERE} and b = \${c === d} -- and e
 order by f \${DIRECTION}`
  const changed = mutated(`\`${sql}\``, 'src/store/source.ts')
  expect(changed.map((text) => text.slice(1, -1).replace('\n', ''))).toEqual([
    `from a \${WHERE} and (b = \${c === d} or true) -- and e order by f \${DIRECTION}`,
    `from a \${WHERE} and b = \${c !== d} -- and e order by f \${DIRECTION}`,
    `from a \${WHERE} and b = \${c === d} -- and e `,
  ])
  expect(mutatedSql('create trigger a after insert or delete on b begin select 1; end')).toEqual([])
  expect(mutatedSql('Stop the gateway and start it again, or wait.')).toEqual([])
  expect(mutated('`select a from b where c`')).toEqual([])
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

test('the run explains its arguments when it is asked to, and breaks nothing', () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(import.meta.dirname, 'run.ts'), '--help'], {
    encoding: 'utf8',
  })
  expect([status, stderr]).toEqual([0, ''])
  expect(stdout).toContain('[--each N]')
})
