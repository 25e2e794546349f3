// Tests that the documentation is right: generated parts are up to date, and everything that it links to or names
// exists.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { papers } from '../docs/generate/papers.ts'
import { LONG_TESTS } from './support/long-tests.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const PAGES = [
  ...readdirSync(ROOT).filter((file) => file.endsWith('.md')),
  ...readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md'))
    .map((file) => join('docs', file)),
]
/** The top-level folders of the repository: a text that starts with one is a path in it. */
const PATH_IN_REPOSITORY = /^(?:src|test|docs|bench|\.ci)\/[\w./-]+$/
/** Options of the benchmark, and of other programs. */
const OPTIONS_OF_OTHERS = [
  '--stop-timeout',
  '--unpinned',
  '--markdown',
  '--rounds',
  '--seconds',
  '--users',
  '--directory',
  '--generator',
  '--pass-authorization-header',
  '--no-allocation-site-pretenuring',
]

test('every generated part of the documentation is up to date with the code', () => {
  for (const { path, url, text } of papers()) {
    expect(readFileSync(url, 'utf8') === text, `${path} is stale: run \`npm run docs\``).toBe(true)
  }
})

test('the README is short', () => {
  const text = read('README.md')
  expect(text.split('\n').length - 1).toBeLessThanOrEqual(150)
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(9_216)
})

test('the README links every guide and every page for operators', () => {
  const pages = PAGES.filter((page) => /^docs\/(?:guide|operate)\//.test(page))
  expect(pages.length).toBeGreaterThan(15)
  const text = read('README.md')
  expect(pages.filter((page) => !text.includes(`](${page})`))).toEqual([])
})

test('the glossary is in alphabetical order', () => {
  const rows = read('docs/architecture/glossary.md').matchAll(/^\| (?!word|---)(.*?) \|/gm)
  const words = [...rows].map(([, word = '']) => word.toLowerCase())
  expect(words.length).toBeGreaterThan(40)
  expect(words).toEqual(words.toSorted())
})

test('decisions stand newest first on their page', () => {
  const pages = PAGES.filter((page) => page.startsWith('docs/decisions/'))
  const dates = pages.map((page) =>
    [...read(page).matchAll(/^(?:## |(?:- )?\*\*)(2\d{3}-\d\d-\d\d)/gm)].map(([, date]) => date),
  )
  expect(dates.flat().length).toBeGreaterThan(200)
  expect(dates).toEqual(dates.map((each) => each.toSorted().toReversed()))
})

test('every relative link points to an existing file, and to an existing heading of it', () => {
  const links = PAGES.flatMap((page) =>
    [...prose(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => ({ page, target })),
  ).filter(({ target }) => !/^[a-z]+:/.test(target))
  expect(links.length).toBeGreaterThan(50)
  expect(links.filter(({ page, target }) => !leadsSomewhere(page, target))).toEqual([])
})

test('every path that a page names exists', () => {
  const named = PAGES.flatMap((page) =>
    [...prose(page).matchAll(/`([^`\s]+)`/g)].map(([, path = '']) => ({ page, path })),
  ).filter(({ path }) => PATH_IN_REPOSITORY.test(path))
  expect(named.length).toBeGreaterThan(100)
  expect(named.filter(({ path }) => !existsSync(join(ROOT, path)))).toEqual([])
})

test('every option that a page names belongs to a command', () => {
  const configuration = read('docs/guide/configuration.md')
  const unknown = PAGES.flatMap((page) =>
    [...prose(page).matchAll(/`(--[a-z][a-z-]*[a-z])[` =]/g)].map(([, option = '']) => ({ page, option })),
  ).filter(({ option }) => !OPTIONS_OF_OTHERS.includes(option) && !configuration.includes(`\`${option}`))
  expect(unknown).toEqual([])
})

test('every script that a page names exists', () => {
  const { scripts }: { scripts: Record<string, string> } = JSON.parse(read('package.json'))
  const named = PAGES.flatMap((page) =>
    [...read(page).matchAll(/npm run ([a-z:-]+)/g)].map(([, script = '']) => ({ page, script })),
  )
  expect(named.length).toBeGreaterThan(10)
  expect(named.filter(({ script }) => scripts[script] === undefined)).toEqual([])
})

test('CONTRIBUTING.md names every script that runs tests', () => {
  const { scripts }: { scripts: Record<string, string> } = JSON.parse(read('package.json'))
  const named = [...read('CONTRIBUTING.md').matchAll(/`(?:npm run )?(test:[a-z:-]+)/g)].map(([, script]) => script)
  const testScripts = Object.keys(scripts).filter((script) => script.startsWith('test:'))
  expect(testScripts.filter((script) => !named.includes(script))).toEqual([])
})

test('every test that `npm test` leaves out exists, and `.ci/run` runs it before a merge', () => {
  expect(LONG_TESTS.filter((path) => !existsSync(join(ROOT, path.replace('/**', ''))))).toEqual([])
  expect(JSON.parse(read('package.json')).scripts['test:all']).toBe('vitest run')
  expect(read('.ci/run')).toContain(
    'TEST_NOTHING_SKIPPED=1 TEST_FAILED_FILES=$failed npm run --silent test:all || tests=',
  )
})

test('every test that a promise names exists', () => {
  const named = [
    ...(read('docs/promises.md') + read('docs/architecture/explorer-faults.md')).matchAll(/^- `([^`]+)` › (.+)$/gm),
  ]
  expect(named.length).toBeGreaterThan(50)
  const missing = named.filter(([, file = '', name = '']) => !hasTest(file, name)).map(([line]) => line)
  expect(missing).toEqual([])
})

test('every log line that a page names is written by the program', () => {
  const sources = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => read(join('src', file)))
    .join('\n')
  const table = /\| look for \|.*?\n\n/s.exec(read('docs/operate/observability.md'))?.[0] ?? ''
  const lines = [...table.matchAll(/^\| `(.+?)(?:…)?` \|/gm)].map(([, line = '']) => line.trim())
  expect(lines.length).toBeGreaterThan(5)
  expect(lines.filter((line) => !sources.includes(`'${line}`))).toEqual([])
})

test('every page is linked from another page', () => {
  const reached = new Set(
    PAGES.flatMap((page) =>
      [...prose(page).matchAll(/\]\(([^)#\s]+)/g)].map(([, target = '']) => normalize(join(dirname(page), target))),
    ),
  )
  expect(PAGES.filter((page) => page !== 'README.md' && !reached.has(page))).toEqual([])
})

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8')
}

/** The text of a page without its code blocks. */
function prose(page: string): string {
  return read(page).replace(/^```.*?^```/gms, '')
}

function leadsSomewhere(page: string, target: string): boolean {
  const [path = '', anchor] = target.split('#')
  const file = path === '' ? page : normalize(join(dirname(page), path))
  if (!existsSync(join(ROOT, file))) return false
  return anchor === undefined || anchorsOf(file).includes(anchor)
}

/** The anchors that common renderers generate from headings. */
function anchorsOf(page: string): readonly string[] {
  return [...prose(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} -]/gu, '')
      .replaceAll(' ', '-'),
  )
}

/** Whether the file contains a call of `test` with this title, as it is written in the source. */
function hasTest(file: string, name: string): boolean {
  if (!existsSync(join(ROOT, file))) return false
  const source = read(file).replaceAll(/\(\s+/g, '(')
  return ["'", '"', '`'].some((quote) => source.includes(`(${quote}${name}${quote}`))
}
