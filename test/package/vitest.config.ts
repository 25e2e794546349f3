// `npm run test:package`: what npm packs, installed and run. It takes too long for every `npm test`.
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/package/*.packed.ts'],
    experimental: { viteModuleRunner: false, nodeLoader: false },
    testTimeout: 120_000,
    hookTimeout: 300_000,
  },
})
