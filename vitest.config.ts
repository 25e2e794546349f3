import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  resolve: {
    // graphql has an ESM and a CommonJS build, and refuses schemas of one in the other: everyone gets the one Node gives.
    alias: [{ find: /^graphql$/, replacement: fileURLToPath(import.meta.resolve('graphql')) }],
  },
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    // Most of the time the tests wait for processes of their own, not for a processor.
    maxWorkers: 5,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
})
