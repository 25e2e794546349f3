#!/usr/bin/env node
// Where the process begins: what is compiled once is kept for the next start, then the command line is run.
import { enableCompileCache, flushCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'

/** Processes that are killed write nothing when they end. */
const FLUSH_AFTER_MS = 3_000

// With the package and not in a directory for everyone, where anyone could leave code. Where it cannot be written to, starts
// take longer and nothing else. It holds for what is imported from here on.
enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/workspace-gateway', import.meta.url)))
setTimeout(flushCompileCache, FLUSH_AFTER_MS).unref()

// The kernel drops signals that process 1, as in a container, does not listen for; any other process they would end.
if (process.pid === 1) {
  for (const [signal, number] of [
    ['SIGINT', 2],
    ['SIGTERM', 15],
  ] as const) {
    // A command that stops by itself listens too.
    process.on(signal, () => void (process.listenerCount(signal) === 1 && process.exit(128 + number)))
  }
}

const { runCommandLine } = await import('./cli/command-line.ts')
process.exitCode = await runCommandLine()
// A worker is done when its work is, though its supervisor could still tell it something.
process.channel?.unref()
