import { availableParallelism } from 'node:os'
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
    // The tests of the packages share the loaded modules of a worker, because loading them takes longer than most
    // tests. The others start processes and replace globals: each file has a worker of its own.
    projects: [
      { extends: true, test: { name: 'packages', include: ['packages/*/src/**/*.test.ts'], isolate: false } },
      {
        extends: true,
        test: { name: 'whole', include: ['test/**/*.test.ts', 'examples/**/*.test.ts', 'tools/**/*.test.ts'] },
      },
    ],
    server: { deps: { inline: [/@kubewright\//] } },
    reporters: ['default', './tools/vitest-summary.ts'],
    // Tests start control planes and processes, which takes long on a busy machine.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
    // One more than there are cores, because many tests wait for processes.
    maxWorkers: availableParallelism() + 1,
  },
})
