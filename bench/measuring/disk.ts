// Measures how long the disk takes to make a write durable.
import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { median } from './figures.ts'

const TIMES = 100
const BYTES = 8_192

/** Median time of fdatasync after a page was appended to a file in this folder, in milliseconds. */
export function syncMilliseconds(directory: string): number {
  const folder = mkdtempSync(join(directory, 'disk-'))
  const file = openSync(join(folder, 'pages'), 'a')
  const page = Buffer.alloc(BYTES, 1)
  const times = Array.from({ length: TIMES }, () => {
    writeSync(file, page)
    const start = performance.now()
    fdatasyncSync(file)
    return performance.now() - start
  })
  closeSync(file)
  rmSync(folder, { recursive: true })
  return median(times)
}
