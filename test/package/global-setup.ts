// Packs the package once for all tests of it.
import type { TestProject } from 'vitest/node'
import { makeDirectory, removeDirectory } from '../support/temporary-directory.ts'
import { type Packed, pack } from './install.ts'

declare module 'vitest' {
  interface ProvidedContext {
    packed: Packed
  }
}

export default function setup(project: TestProject): () => void {
  const folder = makeDirectory()
  project.provide('packed', pack(folder))
  return () => removeDirectory(folder)
}
