// Causes real faults of the machine under a gateway: a failing disk, a full disk, damaged pages.
import { randomFillSync } from 'node:crypto'
import { closeSync, mkdtempSync, openSync, rmSync, statSync, writeFileSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterAll, onTestFinished } from 'vitest'
import { compileLibrary } from './compile-library.ts'
import { mountLazyDisk } from './lazy-disk.ts'
import { mayMount, mountSmallDisk, type SmallDisk } from './small-disk.ts'
import { temporaryDirectory } from './temporary-directory.ts'

/**
 * Returns the path of a library that makes system calls fail, or records them. Prints the reason and returns null if it
 * cannot be built.
 */
export function buildFaultLibrary(source = 'fault-library.c'): string | null {
  if (process.platform !== 'linux') return skipped('a failing disk is made with LD_PRELOAD, on Linux only')
  const directory = mkdtempSync(join(tmpdir(), 'workspace-gateway-faults-'))
  afterAll(() => rmSync(directory, { recursive: true, force: true }))
  try {
    return compileLibrary(source, directory)
  } catch {
    return skipped('a failing disk needs a C compiler (Debian: apt-get install gcc libc6-dev)')
  }
}

/** `delete`: the database is deleted while a commit is being synced. `network`: the disk looks like NFS. */
export type DiskFault = 'fsync' | 'write' | 'read' | 'full' | 'quota' | 'delete' | 'network'

/** A disk for one process that runs with `env`, which preloads the library: the disk works until `fail` is called. */
export function failingDisk(library: string): {
  readonly env: Readonly<Record<string, string>>
  readonly fail: (fault: DiskFault) => void
  readonly recover: () => void
} {
  const control = join(temporaryDirectory(), 'fault')
  writeFileSync(control, '')
  return {
    env: { LD_PRELOAD: library, FAULT_FILE: control },
    fail: (fault) => writeFileSync(control, fault),
    recover: () => writeFileSync(control, ''),
  }
}

/** Whether this user may mount a file system; prints the reason if not. */
export function canMount(): boolean {
  return mayMount() || skipped('a full disk is made with a small tmpfs, which only root may mount') !== null
}

/**
 * Whether the kernel, or the container, offers FUSE, which no package can bring. Without FUSE only the library cuts the
 * power; a line says so.
 */
export function hasFuse(): boolean {
  try {
    closeSync(openSync('/dev/fuse', 'r+'))
    return true
  } catch {
    console.warn('no /dev/fuse: the power is cut by a preloaded library alone')
    return false
  }
}

/** Whether a disk that forgets what was not synced can be built and mounted; prints the reason if not. */
export async function canMountLazyDisk(): Promise<boolean> {
  try {
    await (await mountLazyDisk())[Symbol.asyncDispose]()
    return true
  } catch {
    const reason =
      'a disk that forgets what was not synced needs FUSE (Debian: apt-get install gcc libc6-dev libfuse3-dev)'
    return skipped(reason) !== null
  }
}

/** Mounts a small disk, and unmounts it at the end of the test. */
export function smallDisk(bytes: number): SmallDisk {
  const disk = mountSmallDisk(bytes)
  onTestFinished(() => disk[Symbol.dispose]())
  return disk
}

/** Overwrites the first page of each table of an SQLite file that nobody has open. */
export function damageTables(path: string, tables: readonly string[]): void {
  const database = new Database(path)
  const pageSize = Number(database.pragma('page_size', { simple: true }))
  const firstPage = database.prepare<[string], number>('select rootpage from sqlite_schema where name = ?').pluck()
  const pages = tables.map((table) => firstPage.get(table) ?? 0)
  database.close()
  const file = openSync(path, 'r+')
  for (const page of pages) writeSync(file, Buffer.alloc(pageSize, 0xa5), 0, pageSize, (page - 1) * pageSize)
  closeSync(file)
}

/** Overwrites a part of a file with random bytes; `from` is a fraction of its length. */
export function damageFile(path: string, from: number, byteLength: number): void {
  const at = Math.floor((statSync(path).size * from) / 8_192) * 8_192
  const file = openSync(path, 'r+')
  writeSync(file, randomFillSync(Buffer.alloc(byteLength)), 0, byteLength, at)
  closeSync(file)
}

function skipped(reason: string): null {
  console.warn(`skipped: ${reason}`)
  return null
}
