// Tests zips of exports: their file names, whatever the paths of the elements are, and their dates.
import { strFromU8, unzipSync } from 'fflate'
import { expect, onTestFinished, test, vi } from 'vitest'
import { zipOf } from '../../src/explorer/workspace/files/zip.ts'

function unzipped(paths: readonly string[]): Readonly<Record<string, string>> {
  const elements = paths.map((path, index) => ({ path, content: String(index), isFile: true, isBase64: false }))
  const files = unzipSync(Buffer.concat(zipOf(elements, '2026-03-04T05:06:08Z', () => {})))
  return Object.fromEntries(Object.entries(files).map(([name, bytes]) => [name, strFromU8(bytes)]))
}

test('names that differ only in letter case are different files on every file system', () => {
  expect(unzipped(['src/App.tsx', 'src/app.tsx', 'SRC/APP.TSX', 'src/app (2).tsx'])).toEqual({
    'src/App.tsx': '0',
    'src/app (2).tsx': '1',
    'SRC/APP (3).TSX': '2',
    'src/app (2) (2).tsx': '3',
  })
})

test('the work for elements that share a path does not grow with the square of their number', () => {
  const compared = vi.spyOn(String.prototype, 'toLowerCase')
  onTestFinished(() => compared.mockRestore())
  const paths = Array.from({ length: 300 }, () => 'a.txt')
  expect(Object.keys(unzipped(paths)).at(-1)).toBe('a (300).txt')
  expect(compared.mock.calls.length).toBeLessThan(10 * paths.length)
})

test('an empty file stays empty and takes little memory, which was most of the time for a zip of many files', () => {
  const element = { path: 'empty.txt', content: '', isFile: true, isBase64: false }
  const zip = Buffer.concat(zipOf([element], '2026-03-04T05:06:08Z', () => {}))
  expect(Object.entries(unzipSync(zip))).toEqual([['empty.txt', new Uint8Array()]])
  const before = process.memoryUsage().arrayBuffers
  zipOf([element, element], '2026-03-04T05:06:08Z', () => {})
  // A collection of garbage in between can only make this less.
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(800_000)
})

test('no name leads out of the folder where the zip is unpacked', () => {
  expect(Object.keys(unzipped(['../../etc/passwd', '/etc/passwd', 'a\\..\\b', 'c:/d', '..', '']))).toEqual([
    'etc/passwd',
    'etc/passwd (2)',
    'a/b',
    'c_/d',
    'file',
    'file (2)',
  ])
})

test('a file with the name of a folder gets another name beside the folder', () => {
  expect(unzipped(['a/b', 'a/b/c.txt', 'A', 'docs/guide.md/x', 'docs/guide.md', 'Lib/x', 'lib'])).toEqual({
    'a/b (2)': '0',
    'a/b/c.txt': '1',
    'A (2)': '2',
    'docs/guide.md/x': '3',
    'docs/guide (2).md': '4',
    'Lib/x': '5',
    'lib (2)': '6',
  })
})

test('a path segment too long for file systems is shortened, keeps its extension and stays unique', () => {
  const [long, wide] = ['n'.repeat(300), '漢😀'.repeat(60)]
  const kept = `${'漢😀'.repeat(33)}漢`
  expect(unzipped([`${long}.tsx`, `${long}x.tsx`, `${long}/in.txt`, `${long}x/in.txt`, `${wide}.d.md`, long])).toEqual({
    [`${'n'.repeat(236)}.tsx`]: '0',
    [`${'n'.repeat(236)} (2).tsx`]: '1',
    [`${'n'.repeat(240)}/in.txt`]: '2',
    [`${'n'.repeat(240)}/in (2).txt`]: '3',
    [`${kept}.md`]: '4',
    [`${'n'.repeat(240)} (2)`]: '5',
  })
})

test('no path segment exceeds 255 bytes, whatever its extension and however many are alike', () => {
  const names = Object.keys(
    unzipped([
      `a.${'e'.repeat(300)}`,
      `${'m'.repeat(255)}`,
      ...Array.from({ length: 30 }, () => `${'漢'.repeat(90)}.txt`),
    ]),
  )
  expect(names).toHaveLength(32)
  for (const name of names) expect(Buffer.byteLength(name)).toBeLessThanOrEqual(255)
})

test.each([
  ['2024-02-29T13:14:16.500Z', new Date('2024-02-29T13:14:16Z')],
  ['1969-07-20T20:17:40Z', new Date(1980, 0, 1)],
  ['2123-01-01T00:00:00Z', new Date(2099, 11, 31)],
  ['2016-12-31T23:59:60Z', new Date('2016-12-31T23:59:58Z')],
  ['2017-01-01t00:59:60.5+01:00', new Date('2016-12-31T23:59:58Z')],
  ['no date', new Date(1980, 0, 1)],
])('the files of an export of %s have its date, or a date that a zip can store', (createdAt, dated) => {
  const elements = ['a.txt', 'b.png'].map((path) => ({ path, content: '', isFile: true, isBase64: false }))
  const zip = Buffer.concat(zipOf(elements, createdAt, () => {}))
  const dates: Date[] = []
  // The entries of the central directory, each with the date of its file (APPNOTE 4.3.12).
  for (let at = zip.indexOf('PK\x01\x02'); at !== -1; at = zip.indexOf('PK\x01\x02', at + 4)) {
    const [time, day] = [zip.readUInt16LE(at + 12), zip.readUInt16LE(at + 14)]
    const [year, month, date] = [1980 + (day >> 9), ((day >> 5) & 15) - 1, day & 31]
    dates.push(new Date(year, month, date, time >> 11, (time >> 5) & 63, (time & 31) * 2))
  }
  expect(dates).toEqual([dated, dated])
})
