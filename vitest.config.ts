import { defineConfig } from 'vitest/config'

export default defineConfig({
  resolve: {
    // graphql has an ESM and a CommonJS build, and refuses schemas of one in the other: everyone gets the same.
    alias: [{ find: /^graphql$/, replacement: 'graphql/index.js' }],
  },
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    server: { deps: { inline: [/graphql/] } },
  },
})
