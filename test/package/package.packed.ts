// Tests what `npm pack` makes: its content, its size, and that every supported Node runs it.
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { makeDirectory, removeDirectory, temporaryDirectory } from '../support/temporary-directory.ts'
import { describeContainer } from './container.ts'
import { environmentOf, install, nodeOf, type Packed, pack, programIn, ROOT } from './install.ts'
import { describeService } from './service.ts'

const MEGABYTE = 1_000_000
const BLOCK_BYTES = 4_096
const NODES = [22, 24, 26]

let packed: Packed
let folder: string

beforeAll(() => {
  folder = makeDirectory()
  packed = pack(folder)
  install(packed.tarball, folder, process.execPath)
  return () => removeDirectory(folder)
})

function read(path: string): string {
  return readFileSync(join(folder, 'node_modules/workspace-gateway', path), 'utf8')
}

describe('the package', () => {
  test('contains the program, types, both API descriptions, pages and documentation, and nothing else', () => {
    const rooms = new Set(packed.files.map((file) => (/^(?:dist\/)?[^/]+/.exec(file) ?? [''])[0]))
    expect([...rooms].toSorted()).toEqual(
      [
        ...['bin', 'docs', 'package.json', 'packaging', 'schema.graphql'],
        ...['dist/explorer', 'dist/openapi.json', 'dist/program', 'dist/types', 'dist/sbom.cdx.json'],
        ...['dist/THIRD-PARTY-LICENSES.txt', 'LICENSE', 'README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md'],
      ].toSorted(),
    )
    const sources = packed.files.filter((file) => /\.tsx?$/.test(file) && !file.endsWith('.d.ts'))
    expect(sources).toEqual([])
    expect(packed.files.filter((file) => /(?:^|\/)(?:test|bench|src)\//.test(file))).toEqual([])
    expect(JSON.parse(read('dist/openapi.json')).info.version).toBe('1.2')
  })

  test('contains every target of a link in its documentation', () => {
    const isThere = (path: string) => packed.files.some((file) => file === path || file.startsWith(`${path}/`))
    const links = packed.files
      .filter((file) => file.endsWith('.md'))
      .flatMap((file) => [...read(file).matchAll(/\]\(([^)\s#]+)/g)].map(([, target = '']) => ({ file, target })))
      .filter(({ target }) => !/^[a-z]+:/.test(target))
    expect(links.length).toBeGreaterThan(50)
    expect(links.filter(({ file, target }) => !isThere(normalize(join(dirname(file), target))))).toEqual([])
  })

  test('has no dependencies and no scripts, and is not private', () => {
    const manifest = JSON.parse(read('package.json'))
    for (const member of ['private', 'scripts', 'dependencies', 'devDependencies', 'optionalDependencies']) {
      expect(manifest, member).not.toHaveProperty(member)
    }
    expect(readdirSync(join(folder, 'node_modules')).filter((name) => !name.startsWith('.'))).toEqual([
      'workspace-gateway',
    ])
    // The manifest of the clone was restored.
    expect(readFileSync(join(folder, 'clone/package.json'), 'utf8')).toBe(
      readFileSync(join(ROOT, 'package.json'), 'utf8'),
    )
  })

  test('is smaller than 15 MB without the binaries of the database driver', () => {
    const root = join(folder, 'node_modules')
    const files = readdirSync(root, { recursive: true, encoding: 'utf8' })
    const bytes = files
      .filter((file) => !file.endsWith('.node'))
      .reduce((sum, file) => sum + Math.ceil(statSync(join(root, file)).size / BLOCK_BYTES) * BLOCK_BYTES, 0)
    console.log(`${(bytes / MEGABYTE).toFixed(1)} MB installed without the driver's binaries`)
    expect(bytes).toBeLessThan(15 * MEGABYTE)
  })

  test('lists its components with the hashes of the lock file, and the license of each', () => {
    const bill = JSON.parse(read('dist/sbom.cdx.json'))
    const components: readonly Component[] = bill.components
    const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')).packages
    const locked = Object.entries<Locked>(lock).flatMap(([path, entry]) =>
      path.startsWith('node_modules/') && !entry.link
        ? [{ ...entry, name: path.replace(/^.*node_modules\//, '') }]
        : [],
    )
    const described = new Set(components.map(({ name, version, hashes }) => `${name}@${version} ${hashes[0]?.content}`))
    const withHashes = (entries: typeof locked) =>
      entries.map(({ name, version, integrity }) => `${name}@${version} ${hexadecimal(integrity)}`)
    expect(withHashes(locked)).toEqual(expect.arrayContaining([...described]))
    expect([...described]).toEqual(expect.arrayContaining(withHashes(locked.filter(({ dev }) => !dev))))
    expect(bill).toMatchObject({ bomFormat: 'CycloneDX', metadata: { component: { name: 'workspace-gateway' } } })
    const licences = read('dist/THIRD-PARTY-LICENSES.txt')
    for (const { name, version } of components) expect(licences).toContain(`${name} ${version}\n`)
  })

  test('lists the packages in the pages and in their workers, and no tool for development', () => {
    const components: readonly Component[] = JSON.parse(read('dist/sbom.cdx.json')).components
    const names = components.map(({ name }) => name)
    const imported = ['react', 'react-dom', 'react-aria-components', 'lucide-react', '@tanstack/react-virtual', 'diff']
    const ofGraphiql = ['graphiql', '@graphiql/react', 'codemirror', 'markdown-it']
    const ofWorkers = ['@lezer/html', '@lezer/lr', 'fflate']
    expect(names).toEqual(expect.arrayContaining([...imported, ...ofGraphiql, ...ofWorkers]))
    for (const tool of ['vite', 'rolldown', 'typescript', 'vitest', '@types/react']) expect(names).not.toContain(tool)
    // Scanners leave out what is optional, or for development.
    expect(components.filter(({ scope }) => scope !== 'required').map(({ name }) => name)).toEqual([])
    expect(JSON.stringify(components)).not.toContain('development')
  })

  test('has types of its exports and of the GraphQL API, which need no other package than @types/node', () => {
    writeFileSync(
      join(folder, 'consumer.mts'),
      `import { runCommandLine } from 'workspace-gateway'
       import type { Project } from 'workspace-gateway/graphql'
       const exitCode: Promise<number> = runCommandLine(['--version'])
       export const nameOf = (project: Project): string | null | undefined => project.name
       // @ts-expect-error there is no such field
       export const wrong = (project: Project) => project.nothing
       export default exitCode`,
    )
    const options = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2024', '--types', 'node']
    const typeRoots = ['--typeRoots', join(ROOT, 'node_modules/@types')]
    const tsc = join(ROOT, 'node_modules/.bin/tsc')
    execFileSync(process.execPath, [tsc, ...options, ...typeRoots, 'consumer.mts'], { cwd: folder, stdio: 'pipe' })
    const script = "const { runCommandLine } = await import('workspace-gateway'); await runCommandLine(['--version'])"
    const version = execFileSync(process.execPath, ['--input-type=module', '--eval', script], { cwd: folder })
    expect(String(version)).toBe(`${JSON.parse(read('package.json')).version}\n`)
  })
})

interface Component {
  readonly name: string
  readonly version: string
  readonly scope: string
  readonly hashes: readonly { readonly content: string }[]
}

interface Locked {
  readonly version: string
  readonly integrity: string
  readonly dev?: boolean
  readonly link?: boolean
}

function hexadecimal(integrity: string): string {
  return Buffer.from(integrity.replace('sha512-', ''), 'base64').toString('hex')
}

test.skipIf(nodeOf(20) === null)('a Node that is too old fails with one sentence', async () => {
  const { exitCode, stdout, stderr } = await programIn(folder, nodeOf(20) ?? '').run('serve')
  expect([exitCode, stdout]).toEqual([2, ''])
  expect(stderr).toMatch(/^workspace-gateway needs Node 22\.15 or newer, and this is Node 20\.\d+\.\d+\.\n$/)
})

describe.each(NODES)('in an empty folder on Node %i', (major) => {
  const node = nodeOf(major)

  test.skipIf(node === null)(
    'the package installs, serves REST, GraphQL and pages, imports, backs up, and runs workers',
    async () => {
      if (node === null) return
      const home = temporaryDirectory()
      install(packed.tarball, home, node)
      const npx = execFileSync('npx', ['--offline', 'workspace-gateway', '--version'], {
        cwd: home,
        env: environmentOf(node),
        encoding: 'utf8',
      })
      expect(npx).toBe(`${JSON.parse(read('package.json')).version}\n`)

      const program = programIn(home, node)
      const { url, stop } = await program.serve()
      expect(await program.run('health', url)).toEqual({ exitCode: 0, stdout: 'ready\n', stderr: '' })
      const post = (path: string, body: object, headers = {}) =>
        fetch(url + path, {
          method: 'POST',
          headers: { 'content-type': 'application/json', ...headers },
          body: JSON.stringify(body),
        })
      const signIn = async (email: string) => {
        const { accessToken } = (await (await post('/login', { email })).json()) as { accessToken: string }
        return { authorization: `Bearer ${accessToken}` }
      }
      const demo = await signIn('demo@example.com')
      const projects = await (await fetch(`${url}/projects`, { headers: demo })).json()
      const twin = await (await post('/graphql', { query: '{ me { projects { data } } }' }, demo)).json()
      expect(twin.data.me.projects.map(({ data }: { data: unknown }) => data)).toEqual(projects)
      expect(projects.length).toBeGreaterThan(1)
      const export_ = await fetch(`${url}/exports?r=roastery-site`, { headers: { ...demo, 'accept-encoding': 'zstd' } })
      expect([export_.status, (await export_.json()).length]).toEqual([200, 9])

      const page = await (await fetch(url, { headers: { accept: 'text/html' } })).text()
      const scripts = [...page.matchAll(/(?:src|href)="\.\/(assets\/[^"]+)"/g)].map(([, path]) => path)
      expect(scripts.length).toBeGreaterThan(1)
      for (const script of scripts) expect((await fetch(`${url}/${script}`)).status).toBe(200)
      expect(await (await fetch(`${url}/schema.graphql`)).text()).toBe(read('schema.graphql'))
      const { servers, ...described } = await (await fetch(`${url}/openapi.json`)).json()
      expect(servers).toMatchObject([{ url }])
      expect({ ...JSON.parse(read('dist/openapi.json')), servers }).toEqual({ ...described, servers })

      const record = '{"kind":"project","email":"ana@example.com","data":{"ref":"site","size":1.0}}\n'
      writeFileSync(join(home, 'records.ndjson'), record)
      expect(await program.run('import', 'records.ndjson')).toMatchObject({ exitCode: 0 })
      const served = await fetch(`${url}/projects`, { headers: await signIn('ana@example.com') })
      expect(await served.text()).toBe('[{"ref":"site","size":1.0}]')

      expect(await program.run('backup', 'copy.db')).toMatchObject({ exitCode: 0 })
      expect(await stop()).toBe(0)
      const dump = await program.run('dump', '--database', 'file:copy.db', '--email', 'ana@example.com')
      expect(dump).toEqual({ exitCode: 0, stdout: record, stderr: '' })

      const token = 'a-token-that-is-long-enough-for-everybody'
      writeFileSync(join(home, 'token'), token)
      const workers = await program.serve('--workers', '2', '--import-token-file', 'token')
      const response = await fetch(`${workers.url}/import`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/x-ndjson' },
        body: '{"kind":"template","email":"ana@example.com","data":{"id":"t"}}\n',
      })
      expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('"imported","added":1')])
      expect(await workers.stop()).toBe(0)
    },
  )
})

describeContainer(() => packed)
describeService(() => folder)
