// What readers type, and the page, or the section of it, that must come first.
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { withErrorMessages } from './error-page.ts'
import { readPages } from './page.ts'
import { renderPage } from './render-page.ts'
import { search } from './search.ts'
import { indexPages } from './search-index.ts'

const queries: Readonly<Record<string, string>> = {
  'audit log': 'guides/control-plane.html#audit',
  backup: 'guides/control-plane.html#backup',
  certificates: 'guides/webhooks.html#certificates',
  'client-node': 'guides/from-client-node.html',
  'configuration file': 'reference/configuration.html',
  console: 'guides/console.html',
  conversion: 'concepts/conversion.html',
  debugging: 'guides/debugging.html',
  etcd: 'guides/several-servers.html',
  eventually: 'guides/testing.html#waiting',
  'expect.poll': 'guides/testing.html#waiting',
  events: 'guides/events.html',
  'external api': 'guides/faq.html#how-do-i-call-an-external-api',
  'external system': 'guides/external-systems.html',
  finalizer: 'concepts/finalizers-and-gc.html',
  'forgot await': 'guides/troubleshooting.html#forgot-await',
  'from kopf': 'guides/from-kopf.html',
  'garbage collection': 'concepts/finalizers-and-gc.html',
  'generated password': 'guides/children.html#generated-passwords',
  helm: 'guides/packaging.html#helm',
  'hot loop': 'guides/debugging.html#hot-loops',
  index: 'guides/indexes-and-mapping.html',
  install: 'start/install.html',
  kubebuilder: 'guides/from-kubebuilder.html',
  'large crd': 'guides/troubleshooting.html#metadataannotations-too-long',
  'leader election': 'concepts/leader-election-and-sharding.html',
  metrics: 'reference/metrics.html',
  'missing permission': 'guides/rbac.html',
  'openid connect': 'guides/authentication.html',
  'out of memory': 'guides/troubleshooting.html#javascript-heap-out-of-memory',
  configFile: 'reference/configuration.html#own-flags-and-configuration-files',
  performance: 'guides/performance.html',
  'printer columns': 'concepts/kinds-and-versions.html#printer-columns',
  'prune children': 'guides/children.html',
  'rbac permissions': 'guides/rbac.html',
  'read only property': 'guides/troubleshooting.html#cannot-assign-to-read-only-property',
  requeue: 'guides/status-and-errors.html#requeue-and-back-off',
  restore: 'guides/operating-the-store.html#backup-and-restore',
  'server-side apply': 'concepts/server-side-apply.html',
  'several clusters': 'guides/several-clusters.html',
  sharding: 'concepts/leader-election-and-sharding.html',
  simulation: 'guides/simulating.html',
  'status conditions': 'guides/status-and-errors.html',
  testing: 'guides/testing.html',
  tracing: 'guides/metrics-and-tracing.html',
  upgrade: 'guides/upgrading.html',
  'virtual time': 'concepts/virtual-time.html',
}

const root = join(import.meta.dirname, '..', '..')
const docs = join(root, 'docs')
// Without the generated pages of the API, which are secondary and need a build.
const index = indexPages(
  readPages(docs)
    .map((page) => withErrorMessages(page, root))
    .map((page) => ({ page, rendered: renderPage(page, { docs, repository: (file) => file }) })),
)

describe('the search of the documentation', () => {
  test.each(Object.entries(queries))('"%s" finds %s', (query, address) => {
    const [first] = search(index, query, 'en')
    expect(first?.address.slice(0, address.length)).toBe(address)
  })
})
