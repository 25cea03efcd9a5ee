import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const seededFastCheck = fileURLToPath(new URL('tools/seeded-fast-check.ts', import.meta.url))

export default defineConfig({
  plugins: [
    {
      name: 'seeded-fast-check',
      enforce: 'pre',
      resolveId: (source, importer) =>
        source === 'fast-check' && importer !== seededFastCheck ? seededFastCheck : undefined,
    },
  ],
  resolve: { conditions: ['kubewright-source'] },
  ssr: { resolve: { conditions: ['kubewright-source', 'node', 'import', 'module', 'default'] } },
  test: {
    include: ['packages/*/src/**/*.test.ts', 'test/**/*.test.ts', 'examples/**/*.test.ts', 'tools/**/*.test.ts'],
    server: { deps: { inline: [/@kubewright\//] } },
    reporters: ['default', './tools/vitest-summary.ts'],
    // Tests start control planes and processes, which takes long on a busy machine.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // Loading modules takes half of the time, so every core is used.
    maxWorkers: '100%',
  },
})
