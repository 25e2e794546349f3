#!/usr/bin/env node
// Entry point of the process: enables the compile cache, then runs the command line.
import { enableCompileCache, flushCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'

/** Node writes the compile cache on exit, but not in a process that is killed. */
const FLUSH_AFTER_MS = 3_000

// The cache lies inside the package, not in a shared directory where anyone could plant code. If the directory is not
// writable, the only effect is a slower start. The cache applies to modules that are imported after this line.
enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/workspace-gateway', import.meta.url)))
setTimeout(flushCompileCache, FLUSH_AFTER_MS).unref()

// Without a handler Node opens its debugger on port 9229, through which every user of the machine can run code in this
// process. Scripts that rotate logs send other servers this signal.
process.on('SIGUSR1', () => {})

// The kernel ignores a signal to process 1 (as in a container) that has no handler. Any other process it would
// terminate.
if (process.pid === 1) {
  for (const [signal, number] of [
    ['SIGINT', 2],
    ['SIGTERM', 15],
  ] as const) {
    // A command with a graceful shutdown has its own handler for the signal; leave the exit to it.
    process.on(signal, () => void (process.listenerCount(signal) === 1 && process.exit(128 + number)))
  }
}

const { runCommandLine } = await import('./cli/command-line.ts')
const exitCode = await runCommandLine()
// It is 1 already if stdout has failed.
process.exitCode ||= exitCode
// Without this, the IPC channel to the supervisor would keep a worker alive after its work is done.
process.channel?.unref()
