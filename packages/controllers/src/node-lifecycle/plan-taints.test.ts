import type { Node } from '@kubewright/k8s'
import { expect, test } from 'vitest'
import { now } from '../testdata/objects.ts'
import { planTaints } from './plan-taints.ts'

const notReady = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' } as const
const foreign = { key: 'example.com/mine', effect: 'NoExecute', value: 'x' } as const

function nodeWith(spec: NonNullable<Node['spec']>, conditions: Readonly<Record<string, string>> = {}): Node {
  const status = { conditions: Object.entries(conditions).map(([type, is]) => ({ type, status: is })) }
  return { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' }, spec, status } as unknown as Node
}
const idsOf = (node: Node) => planTaints(node, now)?.map(({ key, effect }) => `${key.split('/')[1]} ${effect}`)

test('planTaints() removes the not-ready taint when the node is ready or has no Ready condition', () => {
  expect(planTaints(nodeWith({ taints: [foreign, notReady] }, { Ready: 'True' }), now)).toEqual([foreign])
  expect(planTaints(nodeWith({ taints: [notReady] }), now)).toEqual([])
  expect(planTaints(nodeWith({ taints: [foreign] }, { Ready: 'True' }), now)).toBeUndefined()
})

test('planTaints() adds NoSchedule for unhealthy and cordoned nodes, and NoExecute for lost ones', () => {
  expect(idsOf(nodeWith({ taints: [notReady] }, { Ready: 'False' }))).toEqual([
    'not-ready NoSchedule',
    'not-ready NoExecute',
  ])
  const lost = nodeWith({ taints: [notReady], unschedulable: true }, { Ready: 'Unknown', DiskPressure: 'True' })
  expect(idsOf(lost)).toEqual([
    'unreachable NoSchedule',
    'unreachable NoExecute',
    'disk-pressure NoSchedule',
    'unschedulable NoSchedule',
  ])
})

test('planTaints() neither adds nor removes NoExecute while evictions wait, and removes it when they stop', () => {
  const lost = nodeWith({ taints: [] }, { Ready: 'Unknown' })
  const added = (evictions: 'later' | 'no') => planTaints(lost, now, evictions)?.map(({ effect }) => effect)
  expect(added('later')).toEqual(['NoSchedule'])
  const evicted = nodeWith({ taints: planTaints(lost, now) ?? [] }, { Ready: 'Unknown' })
  expect(planTaints(evicted, now, 'later')).toBeUndefined()
  expect(planTaints(evicted, now, 'no')?.map(({ effect }) => effect)).toEqual(['NoSchedule'])
})
