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
    // `.ci/run` has all other tests run beside: the image took 100 s alone, and 390 s there.
    testTimeout: 300_000,
    hookTimeout: 900_000,
  },
})
