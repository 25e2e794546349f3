// What the tests start as the program.
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Where the process begins. TEST_PROGRAM names another file: what `build-program.ts` has built starts in half the time. */
export const PROGRAM = resolve(
  fileURLToPath(new URL('../..', import.meta.url)),
  process.env.TEST_PROGRAM ?? 'src/main.ts',
)
