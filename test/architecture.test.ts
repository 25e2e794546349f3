// The structure of the sources: layers, folders, cycles, and what only one part may do.
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const SOURCES = fileURLToPath(new URL('../src', import.meta.url))
const BENCH = fileURLToPath(new URL('../bench', import.meta.url))

/** From the top down: a file imports its own layer and those below, never one above. Two names in a row are siblings: neither imports the other. */
const LAYERS: readonly (readonly string[])[] = [
  ['explorer'],
  ['main.ts'],
  ['cli'],
  ['gateway.ts'],
  ['pages'],
  ['rest', 'graphql'],
  ['resolvers'],
  ['admin'],
  ['http'],
  ['migration', 'conformance'],
  ['import-export'],
  ['auth'],
  ['store'],
]
/** They import nothing of the project except each other. */
const LEAVES = [
  'errors.ts',
  'redact.ts',
  'response-to.ts',
  'send-request.ts',
  'json-text.ts',
  'media-type.ts',
  'decode-body.ts',
  'http-builtin.ts',
  'limit-wait.ts',
  'member-of.ts',
]
const MAX_FILES_PER_FOLDER = 14
/** What only one of the adapters has outside its folder `engine`. */
const OF_ONE_ADAPTER = ['access/erase-traces.ts', 'backup.ts', 'import-runs.ts', 'rewrite-table.ts']
const GENERATED = 'resolvers/generated.ts'

const files = sourcesIn(SOURCES)
const benchFiles = sourcesIn(BENCH)
const imports = importsOf(SOURCES, files)

function filesIn(root: string): readonly string[] {
  const all = readdirSync(root, { recursive: true, encoding: 'utf8', withFileTypes: true })
  return all
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(root, join(parentPath, name)))
    .filter((file) => !file.startsWith('node_modules'))
}

function sourcesIn(root: string): readonly string[] {
  return filesIn(root).filter((file) => /\.tsx?$/.test(file))
}

/** The imports of each file within its own project, as paths from the root. */
function importsOf(root: string, all: readonly string[]): ReadonlyMap<string, readonly string[]> {
  return new Map(
    all.map((file) => {
      const source = readFileSync(join(root, file), 'utf8')
      const found = [...source.matchAll(/(?:from|import\()\s*'(\.{1,2}\/[^']+)'/g)].flatMap(([, path]) => path ?? [])
      return [file, found.map((path) => relative(root, resolve(root, dirname(file), path)))] as const
    }),
  )
}

function fullFolders(all: readonly string[]): readonly string[] {
  const counts = Map.groupBy(all, dirname)
  return [...counts].filter(([, inside]) => inside.length > MAX_FILES_PER_FOLDER).map(([folder]) => folder)
}

function cyclesIn(graph: ReadonlyMap<string, readonly string[]>): readonly string[] {
  const done = new Set<string>()
  const cycles: string[] = []
  function visit(file: string, path: readonly string[]): void {
    if (path.includes(file)) cycles.push([...path.slice(path.indexOf(file)), file].join(' -> '))
    if (done.has(file) || path.includes(file)) return
    for (const target of graph.get(file) ?? []) visit(target, [...path, file])
    done.add(file)
  }
  for (const file of graph.keys()) visit(file, [])
  return cycles
}

/** The members of the object that the last function of a file returns, in order; none if there is no such file. */
function verbsIn(file: string): readonly string[] {
  if (!files.includes(file)) return []
  const source = readFileSync(join(SOURCES, file), 'utf8')
  const [returned = ''] = source.slice(source.lastIndexOf('\n  return {\n')).split('\n  }\n')
  return [...returned.matchAll(/^ {4}(?:async )?(\w+)[(:,]/gm)].flatMap(([, name]) => name ?? [])
}

function isIn(name: string, file: string): boolean {
  return file === name || file.startsWith(`${name}/`)
}

/** Whether the files are in one layer, and not in the same sibling. */
function areSiblings(a: string, b: string): boolean {
  return LAYERS.some(
    (names) =>
      names.some((name) => isIn(name, a)) &&
      !names.some((name) => isIn(name, a) && isIn(name, b)) &&
      names.some((name) => isIn(name, b)),
  )
}

function layerOf(file: string): number {
  if (LEAVES.includes(file)) return LAYERS.length
  const layer = LAYERS.findIndex((names) => names.some((name) => isIn(name, file)))
  if (layer === -1) throw new Error(`${file} is in no layer`)
  return layer
}

test('every file is in a layer, and every import is found', () => {
  expect(files.length).toBeGreaterThan(50)
  for (const [file, targets] of imports) {
    layerOf(file)
    for (const target of targets) expect(files, `${file} imports ${target}`).toContain(target)
  }
})

test('a folder has no more files than a reader can take in', () => {
  expect(fullFolders(filesIn(SOURCES))).toEqual([])
  expect(fullFolders(filesIn(BENCH))).toEqual([])
})

test('imports point down, never up', () => {
  const upward = [...imports].flatMap(([file, targets]) =>
    targets
      .filter((target) => layerOf(target) < layerOf(file) || areSiblings(file, target))
      .map((target) => `${file} imports ${target}`),
  )
  expect(upward).toEqual([])
})

test('the adapters of both databases have the same files, except those that postgresql.md names', () => {
  const filesOf = (adapter: string) =>
    files
      .filter((file) => isIn(adapter, file) && !isIn(`${adapter}/engine`, file))
      .map((file) => relative(adapter, file))
  const all = [...filesOf('store/sqlite'), ...filesOf('store/postgres')].toSorted()
  const ofOne = all.filter((file) => all.indexOf(file) === all.lastIndexOf(file))
  expect(ofOne).toEqual(OF_ONE_ADAPTER)
  const page = readFileSync(join(SOURCES, '../docs/architecture/postgresql.md'), 'utf8')
  for (const file of OF_ONE_ADAPTER) expect(page).toContain(`\`${file}\``)
})

test('the adapters of both databases have their verbs in the same order', () => {
  const shared = files
    .filter((file) => isIn('store/sqlite', file))
    .map((file) => relative('store/sqlite', file))
    .map((file) => ({ file, verbs: verbsIn(`store/sqlite/${file}`), others: verbsIn(`store/postgres/${file}`) }))
    .map(({ file, verbs, others }) => ({
      file,
      verbs: verbs.filter((verb) => others.includes(verb)),
      others: others.filter((verb) => verbs.includes(verb)),
    }))
  expect(shared.flatMap(({ verbs }) => verbs).length).toBeGreaterThan(50)
  for (const { file, verbs, others } of shared) expect(others, file).toEqual(verbs)
})

test('the overview names every file that all rooms may use', () => {
  const overview = readFileSync(join(SOURCES, '../docs/architecture/overview.md'), 'utf8')
  expect(LEAVES.filter((file) => !overview.includes(`\`src/${file}\``))).toEqual([])
})

test('there is no import cycle, not even of types', () => {
  const bench = importsOf(BENCH, benchFiles)
  expect(bench.size).toBeGreaterThan(20)
  expect([...cyclesIn(imports), ...cyclesIn(bench)]).toEqual([])
})

test('only the command line reads the arguments, the environment and the streams of the process', () => {
  const readers = files.filter((file) => /process\.(env|argv|std|exit)/.test(readFileSync(join(SOURCES, file), 'utf8')))
  // The build of the pages is a separate script.
  expect(readers.toSorted()).toEqual([
    'cli/command-line.ts',
    'cli/process/process-io.ts',
    'explorer/build.ts',
    'main.ts',
  ])
})

test('only one file loads node:http, because an import of it loads all of fetch', () => {
  const importing = files.filter((file) =>
    /^(?:import(?! type)|export).*from 'node:http'/m.test(readFileSync(join(SOURCES, file), 'utf8')),
  )
  expect(importing).toEqual([])
})

test('only the command line knows the flags of options; other code knows their names', () => {
  // SQL has comments that begin like a flag, and SQL that was released is never changed.
  const others = files.filter((file) => !/^(cli|explorer|store\/\w+\/migrations)\//.test(file) && file !== GENERATED)
  const knowing = others.filter((file) => /--[a-z]{2}/.test(readFileSync(join(SOURCES, file), 'utf8')))
  expect(knowing).toEqual([])
})

test('SQL is only in the store, and no type is any', () => {
  for (const file of files.filter((name) => name !== GENERATED)) {
    const source = readFileSync(join(SOURCES, file), 'utf8')
    if (!file.startsWith('store/'))
      expect(source, file).not.toMatch(/\b(select|insert|delete|update)\s[^'`]*\b(from|into|set)\s/)
    expect(source, file).not.toMatch(/:\s*any\b|\bas any\b|<any>/)
  }
})

test('every file opens with a sentence that says what it is responsible for', () => {
  for (const file of files.filter((name) => name !== GENERATED && name !== 'main.ts')) {
    expect(readFileSync(join(SOURCES, file), 'utf8'), file).toMatch(/^\/\/ [A-Z`:a-z].*\n/)
  }
})
