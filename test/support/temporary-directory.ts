// Creates directories for tests, and removes them afterwards.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** Returns a directory that is removed at the end of the test. */
export function temporaryDirectory(): string {
  const path = makeDirectory()
  onTestFinished(() => removeDirectory(path))
  return path
}

export function makeDirectory(): string {
  return mkdtempSync(join(tmpdir(), 'workspace-gateway-test-'))
}

export function removeDirectory(path: string): void {
  rmSync(path, { recursive: true, force: true })
}
