// Runs the tests of scaffolded projects on the sources of the workspace instead of published packages.
import { defineConfig } from 'vitest/config'

export default defineConfig({
  resolve: { conditions: ['kubewright-source'] },
  ssr: { resolve: { conditions: ['kubewright-source', 'node', 'import', 'module', 'default'] } },
  // All files in one process, so that the sources are loaded once.
  test: { server: { deps: { inline: [/kubewright/] } }, isolate: false, fileParallelism: false, testTimeout: 30_000 },
})
