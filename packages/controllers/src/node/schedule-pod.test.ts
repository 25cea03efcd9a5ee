import type { Node, Pod, PodSpec } from '@kubewright/k8s'
import { expect, test } from 'vitest'
import { node, type PodFacts, pod } from '../testdata/objects.ts'
import { ClusterLedger } from './cluster-ledger.ts'
import { schedulePod } from './schedule-pod.ts'

const loads = (nodes: readonly Node[], ...pods: Pod[]) => {
  const ledger = new ClusterLedger()
  for (const one of pods) ledger.see(one)
  return ledger.loads(nodes)
}
const where = (subject: Pod, nodes: readonly Node[], ...pods: Pod[]): string => {
  const placement = schedulePod(subject, loads(nodes, ...pods))
  return 'reason' in placement ? placement.reason : placement.node.node.metadata.name
}
const asking = (requests: Record<string, string>, facts: PodFacts = {}): Pod =>
  pod({ ...facts, spec: { containers: [{ name: 'c', image: 'x', resources: { requests } }] } })
const after = (open: string) => `no new claims to deallocate, preemption: 0/${open}.`

test('schedulePod() spreads the pods of an owner, then prefers the emptiest node', () => {
  const owner = { kind: 'ReplicaSet', name: 'web', uid: 'w' }
  const nodes = [node('a'), node('b')]
  expect(where(pod({ name: 'n', owner }), nodes, pod({ name: 'x', node: 'a', owner }))).toBe('b')
  expect(where(asking({ cpu: '1' }), nodes, asking({ cpu: '2' }, { name: 'x', node: 'a' }))).toBe('b')
})

test('schedulePod() counts the resources of unfinished pods', () => {
  const nodes = [node('a')]
  const big = asking({ cpu: '3' }, { name: 'big', node: 'a' })
  expect(where(asking({ cpu: '2' }), nodes, big)).toBe(
    `0/1 nodes are available: 1 Insufficient cpu. ${after('1 nodes are available: 1 No preemption victims found for incoming pod')}`,
  )
  expect(where(asking({ cpu: '2' }), nodes, asking({ cpu: '3' }, { name: 'big', node: 'a', phase: 'Succeeded' }))).toBe(
    'a',
  )
  expect(where(asking({ cpu: '5', 'example.com/gpu': '1' }), nodes)).toBe(
    '0/1 nodes are available: 1 Insufficient cpu, 1 Insufficient example.com/gpu. ' +
      after('1 nodes are available: 1 Preemption is not helpful for scheduling'),
  )
  const full = node('a', { status: { allocatable: { cpu: '4', pods: '1' } } })
  expect(where(pod(), [full], pod({ name: 'x', node: 'a' }))).toContain('1 Too many pods.')
})

test('schedulePod() reports the reasons for all rejected nodes', () => {
  const nodes = [
    node('cordoned', { spec: { unschedulable: true } }),
    node('tainted', { spec: { taints: [{ key: 'k', value: 'v', effect: 'NoSchedule' }] } }),
    node('other', { labels: { disk: 'hdd' } }),
  ]
  expect(where(pod({ spec: { nodeSelector: { disk: 'ssd' } } }), nodes)).toBe(
    "0/3 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 1 node(s) had untolerated taint(s), " +
      `1 node(s) were unschedulable. ${after('3 nodes are available: 3 Preemption is not helpful for scheduling')}`,
  )
  expect(where(pod(), [])).toBe('no nodes available to schedule pods')
  const tolerations = [{ key: 'k', value: 'v', effect: 'NoSchedule' as const }]
  expect(where(pod({ spec: { tolerations } }), nodes.slice(1, 2))).toBe('tainted')
})

test.each<[string, { operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist' | 'Gt' | 'Lt'; values?: string[] }, boolean]>(
  [
    ['In', { operator: 'In', values: ['4', '8'] }, true],
    ['NotIn', { operator: 'NotIn', values: ['4', '8'] }, false],
    ['Exists', { operator: 'Exists' }, true],
    ['DoesNotExist', { operator: 'DoesNotExist' }, false],
    ['Gt', { operator: 'Gt', values: ['3'] }, true],
    ['Lt', { operator: 'Lt', values: ['3'] }, false],
  ],
)('schedulePod() knows node affinity with %s', (_, requirement, fits) => {
  const required = { nodeSelectorTerms: [{ matchExpressions: [{ key: 'cores', ...requirement }] }] }
  const spec: Partial<PodSpec> = {
    affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } },
  }
  expect(where(pod({ spec }), [node('a', { labels: { cores: '4' } })]) === 'a').toBe(fits)
})

test('schedulePod() avoids host port conflicts', () => {
  const spec = { containers: [{ name: 'c', image: 'x', ports: [{ containerPort: 80, hostPort: 80 }] }] }
  const taken = pod({ name: 'x', node: 'a', spec })
  expect(where(pod({ spec }), [node('a'), node('b')], taken)).toBe('b')
  expect(where(pod({ spec }), [node('a')], taken)).toContain(
    "1 node(s) didn't have free ports for the requested pod ports.",
  )
})

const near = { labelSelector: { matchLabels: { app: 'web' } }, topologyKey: 'zone' }
const zoned = [node('a', { labels: { zone: '1' } }), node('b', { labels: { zone: '2' } })]
const web = (facts: PodFacts): Pod => pod({ labels: { app: 'web' }, ...facts })

test('schedulePod() respects pod affinity and anti-affinity', () => {
  const affinity = { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [near] } }
  const antiAffinity = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [near] } }
  const there = web({ name: 'x', node: 'b' })
  expect(where(pod({ spec: { affinity } }), zoned, there)).toBe('b')
  expect(where(pod({ spec: { affinity } }), zoned)).toContain("2 node(s) didn't match pod affinity rules.")
  expect(where(web({ spec: { affinity } }), zoned)).toBe('a')
  expect(where(web({ spec: { affinity: antiAffinity } }), zoned, there)).toBe('a')
  const repelling = web({ name: 'y', node: 'a', spec: { affinity: antiAffinity } })
  expect(where(web({}), [zoned[0]!], repelling)).toContain(
    "1 node(s) didn't satisfy existing pods anti-affinity rules.",
  )
})

test('ClusterLedger counts each pod once and releases the resources of deleted pods', () => {
  const ledger = new ClusterLedger()
  const subject = asking({ cpu: '1' }, { name: 'p' })
  const used = () => ledger.loads([node('a')])[0]?.used.get('cpu') ?? 0n
  ledger.assume(subject, 'a')
  ledger.see(subject)
  expect(ledger.isAssumed('uid-p')).toBe(true)
  ledger.see({ ...subject, spec: { ...subject.spec, nodeName: 'a' } })
  expect([used(), ledger.isAssumed('uid-p')]).toEqual([1000n, false])
  ledger.forget('uid-p')
  ledger.forget('uid-p')
  expect(used()).toBe(0n)
})
