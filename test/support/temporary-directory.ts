// A directory of one test's own, removed after it.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

export function temporaryDirectory(): string {
  const path = mkdtempSync(join(tmpdir(), 'workspace-gateway-test-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}
