import { defineConfig } from 'vitest/config'
import { CiReporter } from './test/support/ci-reporter.ts'
import { LONG_TESTS } from './test/support/long-tests.ts'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: process.env.TEST_QUICK ? LONG_TESTS : [],
    reporters: ['default', ...(process.env.TEST_NOTHING_SKIPPED ? [new CiReporter()] : [])],
    setupFiles: ['test/support/setup.ts', ...(process.env.NODE_V8_COVERAGE ? ['test/mutants/take-coverage.ts'] : [])],
    globalSetup: ['test/support/global-setup.ts'],
    // As the program runs: Node itself imports the sources and the packages, nothing is transformed on the way.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    // Files share the modules of their process: each test starts what it needs, and no module holds state. Only support
    // keeps a browser and connections to PostgreSQL.
    isolate: false,
    // Tests wait for processes of their own, but with five files at once two processors are never idle, and each test only waits longer.
    maxWorkers: 4,
    // A slow or busy machine is no failure: a second, the default of polls, passes before a process has read what it was sent,
    // and on one of half the speed Firefox took more than a minute to start. These limits are for what hangs.
    testTimeout: 240_000,
    expect: { poll: { timeout: 120_000 } },
    hookTimeout: 240_000,
  },
})
