// Packs the package with npm, installs it into an empty folder, and runs it with a chosen Node, as a user would.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, symlinkSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'

export const ROOT = fileURLToPath(new URL('../..', import.meta.url))

export interface Packed {
  readonly tarball: string
  readonly files: readonly string[]
}

/** Packs a copy of the clone, because npm changes package.json while it packs, and other tests read it. */
export function pack(folder: string): Packed {
  const clone = join(folder, 'clone')
  const list = ['ls-files', '-z', '--cached', '--others', '--exclude-standard']
  const tracked = execFileSync('git', list, { cwd: ROOT, encoding: 'utf8' }).split('\0').filter(Boolean)
  for (const file of tracked.filter((path) => existsSync(join(ROOT, path)))) {
    cpSync(join(ROOT, file), join(clone, file), { preserveTimestamps: true })
  }
  cpSync(join(ROOT, 'dist/explorer'), join(clone, 'dist/explorer'), { recursive: true, preserveTimestamps: true })
  symlinkSync(join(ROOT, 'node_modules'), join(clone, 'node_modules'))
  const text = execFileSync('npm', ['pack', '--json', '--pack-destination', folder], { cwd: clone, encoding: 'utf8' })
  // The output of the scripts comes first.
  const [{ filename, files }] = JSON.parse(text.slice(text.search(/^\[\s*\{/m)))
  return { tarball: join(folder, filename), files: files.map(({ path }: { path: string }) => path) }
}

/** Returns a Node that `npm ci --prefix test/package/nodes` installed, or null if this machine has none. */
export function nodeOf(major: number): string | null {
  const own = process.versions.node.startsWith(`${major}.`) ? process.execPath : null
  const locked = fileURLToPath(new URL(`./nodes/node_modules/node-${major}/bin/node`, import.meta.url))
  return own ?? (existsSync(locked) ? locked : null)
}

export function environmentOf(node: string): NodeJS.ProcessEnv {
  return { ...process.env, PATH: dirname(node) + delimiter + process.env.PATH, NODE_OPTIONS: '' }
}

/** Installs offline from the tarball alone: the package has no dependencies. */
export function install(tarball: string, folder: string, node: string): void {
  writeFileSync(join(folder, 'package.json'), '{"private":true}')
  execFileSync('npm', ['install', '--offline', '--no-audit', '--no-fund', tarball], {
    cwd: folder,
    env: environmentOf(node),
    stdio: 'pipe',
  })
}

export interface Program {
  /** Runs a command to its end. */
  readonly run: (...args: string[]) => Promise<{ exitCode: number; stdout: string; stderr: string }>
  /** Resolves when the gateway listens. It is killed at the end of the test. */
  readonly serve: (...args: string[]) => Promise<{ url: string; stop: () => Promise<number | null> }>
}

export function programIn(folder: string, node: string): Program {
  const bin = join(folder, 'node_modules/.bin/workspace-gateway')
  const start = (args: readonly string[]) => spawn(bin, args, { cwd: folder, env: environmentOf(node) })
  return {
    async run(...args) {
      const child = start(args)
      const [stdout, stderr] = [collect(child, 'stdout'), collect(child, 'stderr')]
      const [exitCode] = await once(child, 'close')
      return { exitCode, stdout: stdout(), stderr: stderr() }
    },
    async serve(...args) {
      const child = start(['serve', '--port', '0', ...args])
      const closed = once(child, 'close')
      onTestFinished(async () => {
        child.kill('SIGKILL')
        await closed
      })
      const [stdout, stderr] = [collect(child, 'stdout'), collect(child, 'stderr')]
      while (!/^listening on \S+$/m.test(stdout())) {
        const event = await Promise.race([once(child.stdout, 'data'), closed.then(() => 'closed' as const)])
        if (event === 'closed') throw new Error(`serve ended before it listened: ${stderr()}`)
      }
      return {
        url: /^listening on (\S+)$/m.exec(stdout())?.[1] ?? '',
        async stop() {
          child.kill('SIGTERM')
          return (await closed)[0]
        },
      }
    },
  }
}

function collect(child: ChildProcess, stream: 'stdout' | 'stderr'): () => string {
  const chunks: Buffer[] = []
  child[stream]?.on('data', (chunk: Buffer) => chunks.push(chunk))
  return () => Buffer.concat(chunks).toString()
}
