import { expect, test } from 'vitest'
import { node, pod } from '../testdata/objects.ts'
import { planPodGc } from './plan-pod-gc.ts'

const plan = (facts: Partial<Parameters<typeof planPodGc>[0]>) =>
  planPodGc({ pods: [], nodes: [], terminatedThreshold: 0, ...facts }).map(
    ({ pod: { metadata }, why }) => `${metadata.name} ${why}`,
  )

test('planPodGc() selects finished pods beyond the threshold, oldest first', () => {
  const pods = [1, 2, 3].map((age) => pod({ name: `p${age}`, phase: 'Succeeded', age }))
  expect(plan({ pods, terminatedThreshold: 2 })).toEqual(['p3 terminated'])
  expect(plan({ pods })).toEqual([])
})

test('planPodGc() selects pods that no node will finish', () => {
  const outOfService = node('down', {
    spec: { taints: [{ key: 'node.kubernetes.io/out-of-service', effect: 'NoExecute' }] },
  })
  const pods = [
    pod({ name: 'lost', node: 'gone' }),
    pod({ name: 'never', deleted: true }),
    pod({ name: 'stuck', node: 'down', deleted: true }),
    pod({ name: 'fine', node: 'up', deleted: true }),
    pod({ name: 'waits' }),
  ]
  const nodes = [outOfService, node('up')]
  expect(plan({ pods, nodes })).toEqual(['lost node-gone', 'never unscheduled', 'stuck out-of-service'])
})
