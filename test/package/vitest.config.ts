// `npm run test:package` installs and runs what npm packs. It takes too long for every `npm test`.
import { defineConfig } from 'vitest/config'
import { CiReporter } from '../support/ci-reporter.ts'

export default defineConfig({
  test: {
    reporters: ['default', ...(process.env.TEST_NOTHING_SKIPPED ? [new CiReporter()] : [])],
    include: ['test/package/*.packed.ts'],
    experimental: { viteModuleRunner: false, nodeLoader: false },
    // The image tests wait for the disk half of the time, so the package tests run beside them.
    maxWorkers: 2,
    // `.ci/run` runs all other tests at the same time: the image took 100 s alone, and 390 s there. On a slow machine it took 640 s.
    testTimeout: 600_000,
    hookTimeout: 1_800_000,
  },
})
