// Names the file that tests start as the program.
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

/** TEST_PROGRAM names another file: the one that `build-program.ts` builds starts in half the time. */
export const PROGRAM = resolve(
  fileURLToPath(new URL('../..', import.meta.url)),
  process.env.TEST_PROGRAM ?? 'src/main.ts',
)
