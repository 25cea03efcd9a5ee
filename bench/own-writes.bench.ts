// Counts the reconciles that a controller's own status writes cause, with the in-process test environment.
import { defineResource } from '@kubewright/api'
import { defineController, defineOperator } from '@kubewright/runtime'
import { s } from '@kubewright/schema'
import { startTestEnv } from '@kubewright/testing'
import type { Suite } from './harness.ts'

const objects = 300

const Site = defineResource({
  group: 'bench.example.com',
  version: 'v1',
  kind: 'Site',
  spec: s.object({ image: s.string() }),
  status: s.object({ done: s.int() }),
})

/** The number of reconciles of objects whose status is written once each. */
async function reconciles(reconcileOwnWrites: boolean): Promise<number> {
  let count = 0
  const controller = defineController(Site, {
    reconcileOwnWrites,
    reconcile({ metadata }) {
      if (metadata.name !== 'last') count++
      return { status: { done: 1 } }
    },
  })
  await using env = await startTestEnv(defineOperator({ name: 'bench', kinds: [Site], controllers: [controller] }))
  const names = Array.from({ length: objects }, (_, index) => `site-${index}`)
  for (const name of names) await env.client.create(Site({ metadata: { name }, spec: { image: 'nginx:1.27' } }))
  for (const name of names) await env.until(Site, name, ({ status }) => status?.done === 1)
  // Changes are delivered in order: after this object, those of the others have been handled.
  await env.client.create(Site({ metadata: { name: 'last' }, spec: { image: 'nginx:1.27' } }))
  await env.until(Site, 'last', ({ status }) => status?.done === 1)
  return count
}

export const suite: Suite = {
  title: 'Reconciles per own status write',
  about: `${objects} custom resources whose controller writes one status each. An own status write needs no reconcile; without the recognition of own writes it causes one, as in controller-runtime without predicates.`,
  report: async () => {
    const ours = await reconciles(false)
    const plain = await reconciles(true)
    return [
      '| | Kubewright | with `reconcileOwnWrites` |',
      '|---|---|---|',
      `| reconciles of ${objects} objects | ${ours} (target ${objects}: ${ours <= objects ? 'met' : 'missed'}) | ${plain} |`,
      `| further reconciles per own status write | ${((ours - objects) / objects).toFixed(2)} | ${((plain - objects) / objects).toFixed(2)} |`,
    ]
  },
}
