// A disk that can be full: a small file system in memory, which only root may mount.
import { execFileSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface SmallDisk extends Disposable {
  readonly path: string
  readonly fill: () => void
  readonly empty: () => void
}

/** Whether this user may mount a file system. */
export function mayMount(): boolean {
  try {
    mountSmallDisk(1_048_576)[Symbol.dispose]()
    return true
  } catch {
    return false
  }
}

/** Throws if this user may not mount. */
export function mountSmallDisk(bytes: number): SmallDisk {
  const path = mkdtempSync(join(tmpdir(), 'workspace-gateway-disk-'))
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${bytes}`, 'tmpfs', path], { stdio: 'pipe' })
  } catch (error) {
    rmSync(path, { recursive: true, force: true })
    throw error
  }
  const filler = join(path, 'filler')
  return {
    path,
    fill() {
      const file = openSync(filler, 'a')
      try {
        for (;;) writeSync(file, Buffer.alloc(4_096))
      } catch (error) {
        if (Reflect.get(Object(error), 'code') !== 'ENOSPC') throw error
      } finally {
        closeSync(file)
      }
    },
    empty: () => rmSync(filler),
    [Symbol.dispose]() {
      execFileSync('umount', ['-l', path])
      rmSync(path, { recursive: true, force: true })
    },
  }
}
