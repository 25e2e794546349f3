// Runs before each test file.
import { expect } from 'vitest'
import { searchLogsAtEnd } from './searched-logs.ts'

/** The doctor distinguishes a disk from memory, and the faults are those of disks. */
const NEEDS_DISK = /\/test\/(?:doctor|faults)\//

// Settings of an operator would make tests serve, and write to, the database that they name.
for (const name of Object.keys(process.env)) if (name.startsWith('WORKSPACE_GATEWAY_')) delete process.env[name]

searchLogsAtEnd()

// Elsewhere nothing is asked of a disk: a kill ends processes, not the machine.
process.env.TMPDIR = NEEDS_DISK.test(expect.getState().testPath ?? '') ? process.env.TEST_DISK : process.env.TEST_MEMORY
