// A disk, mounted with FUSE, that forgets what was not synced when its power is cut.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { SeededRandom } from './seeded-random.ts'

export interface PowerCut {
  /** How many changes of names (files created, removed or renamed without a sync of the folder) were undone. */
  readonly namesLost: number
  /** For each file that is left, by name: how many of its writes are lost, in whole or in part. */
  readonly writesLost: ReadonlyMap<string, number>
}

export interface LazyDisk extends AsyncDisposable {
  /** A folder for files only, without subfolders. */
  readonly path: string
  /**
   * From the call on nothing is synced any more, and pending calls get no answer. Resolves when the disk is back, with everything that
   * was synced and, in half of the cuts, some of what was not. SIGKILL must have been sent to every process that uses the disk.
   */
  readonly cutPower: (random: SeededRandom) => Promise<PowerCut>
}

/** Throws if the disk cannot be built (Debian: `gcc libc6-dev libfuse3-dev`) or mounted. */
export async function mountLazyDisk(): Promise<LazyDisk> {
  const path = mkdtempSync(join(tmpdir(), 'workspace-gateway-disk-'))
  const built = mkdtempSync(join(tmpdir(), 'workspace-gateway-faults-'))
  try {
    const program = join(built, 'mount')
    const sources = ['mount.c', 'disk.c'].map((name) => fileURLToPath(new URL(`lazy-disk/${name}`, import.meta.url)))
    execFileSync('cc', ['-O1', '-I/usr/include/fuse3', '-o', program, ...sources, '-lfuse3'], { stdio: 'pipe' })
    return await start(program, path)
  } catch (error) {
    rmdirSync(path)
    throw error
  } finally {
    rmSync(built, { recursive: true })
  }
}

async function start(program: string, path: string): Promise<LazyDisk> {
  const disk = spawn(program, [path], { stdio: ['pipe', 'pipe', 'inherit'] })
  const ended = once(disk, 'close')
  const lines = createInterface(disk.stdout)[Symbol.asyncIterator]()

  async function nextLine(): Promise<string> {
    const { value, done } = await lines.next()
    if (done) throw new Error(`the lazy disk at ${path} ended`)
    return value
  }

  await nextLine()
  return {
    path,
    async cutPower(random) {
      disk.stdin.write(`cut ${random.below(2 ** 31)}\n`)
      const [names, ...files] = (await nextLine()).split(' ')
      const writesLost = files.flatMap((name, at) => (at % 2 === 0 ? [[name, Number(files[at + 1])] as const] : []))
      return { namesLost: Number(names), writesLost: new Map(writesLost) }
    },
    async [Symbol.asyncDispose]() {
      disk.stdin.end()
      await ended
      rmdirSync(path)
    },
  }
}
