// `npm run test:package`: what npm packs, installed and run. It takes too long for every `npm test`.
import { defineConfig } from 'vitest/config'
import { CiReporter } from '../support/ci-reporter.ts'

export default defineConfig({
  test: {
    reporters: ['default', ...(process.env.TEST_NOTHING_SKIPPED ? [new CiReporter()] : [])],
    include: ['test/package/*.packed.ts'],
    experimental: { viteModuleRunner: false, nodeLoader: false },
    // The image, which waits for its disk half of the time, beside the package.
    maxWorkers: 2,
    testTimeout: 120_000,
    hookTimeout: 300_000,
  },
})
