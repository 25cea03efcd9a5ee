import type { Node, Pod } from '@kubewright/k8s'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { node, pod } from '../testdata/objects.ts'
import { ClusterLedger } from './cluster-ledger.ts'
import { NodeRanking } from './node-ranking.ts'
import { schedulePod } from './schedule-pod.ts'

const tainted = (name: string): Node => ({
  ...node(name),
  spec: { taints: [{ key: 'only', value: 'special', effect: 'NoSchedule' }] },
})

const arbitraryPod = fc.record({
  cpu: fc.constantFrom('100m', '500m', '1'),
  owner: fc.constantFrom(undefined, 'a', 'b'),
  tolerates: fc.boolean(),
})

const podOf = (
  index: number,
  { cpu, owner, tolerates }: typeof arbitraryPod extends fc.Arbitrary<infer T> ? T : never,
): Pod =>
  pod({
    name: `pod-${index}`,
    ...(owner === undefined ? {} : { owner: { kind: 'ReplicaSet', name: owner, uid: owner } }),
    spec: {
      containers: [{ name: 'c', image: 'x', resources: { requests: { cpu } } }],
      ...(tolerates ? { tolerations: [{ key: 'only', operator: 'Exists' }] } : {}),
    },
  })

test('NodeRanking.choose() selects the node that schedulePod() selects, while pods come and go', () => {
  const step = fc.oneof(
    { weight: 4, arbitrary: fc.record({ add: arbitraryPod }) },
    { weight: 1, arbitrary: fc.record({ remove: fc.nat(20) }) },
  )
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 6 }), fc.array(step, { maxLength: 40 }), (count, steps) => {
      const ledger = new ClusterLedger()
      const ranking = new NodeRanking(ledger)
      for (let i = 0; i < count; i++) ledger.seeNode(i % 3 === 2 ? tainted(`n${i}`) : node(`n${i}`))
      const placed: Pod[] = []
      for (const [index, one] of steps.entries()) {
        if ('remove' in one) {
          const [gone] = placed.splice(one.remove % Math.max(1, placed.length), 1)
          if (gone !== undefined) ledger.forget(gone.metadata.uid)
          continue
        }
        const next = podOf(index, one.add)
        const expected = schedulePod(next, ledger.nodes)
        const chosen = ranking.choose(next)
        if (chosen !== undefined) expect('node' in expected && expected.node).toBe(chosen)
        if ('reason' in expected) continue
        ledger.assume(next, expected.node.node.metadata.name)
        placed.push(next)
      }
    }),
  )
})

test('NodeRanking.choose() selects the emptiest node without pods of the owner, and leaves crowded owners to schedulePod()', () => {
  const ledger = new ClusterLedger()
  const ranking = new NodeRanking(ledger)
  for (const name of ['a', 'b']) ledger.seeNode(node(name))
  const of = (name: string): Pod => pod({ name, owner: { kind: 'ReplicaSet', name: 'web', uid: 'w' } })
  for (const name of ['one', 'two']) {
    const chosen = ranking.choose(of(name))
    ledger.assume(of(name), chosen?.node.metadata.name ?? 'none')
  }
  expect(ledger.nodes.map(({ pods }) => pods.size)).toEqual([1, 1])
  expect(ranking.choose(of('three'))).toBeUndefined()
})

test('NodeRanking.choose() follows nodes that are added, cordoned and removed', () => {
  const ledger = new ClusterLedger()
  const ranking = new NodeRanking(ledger)
  const where = (): string | undefined => ranking.choose(pod({ name: 'p' }))?.node.metadata.name
  expect(where()).toBeUndefined()
  ledger.seeNode(node('a'))
  expect(where()).toBe('a')
  ledger.seeNode({ ...node('a'), spec: { unschedulable: true } })
  expect(where()).toBeUndefined()
  ledger.seeNode(node('b'))
  expect(where()).toBe('b')
  ledger.forgetNode('b')
  expect(where()).toBeUndefined()
})

test('NodeRanking.choose() leaves pods with affinity, spread constraints or host ports to schedulePod()', () => {
  const ledger = new ClusterLedger()
  const ranking = new NodeRanking(ledger)
  ledger.seeNode(node('a'))
  const term = { topologyKey: 'zone', labelSelector: {} }
  const required = { requiredDuringSchedulingIgnoredDuringExecution: [term] }
  const spread = { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule' as const }
  expect(ranking.choose(pod({ spec: { affinity: { podAntiAffinity: required } } }))).toBeUndefined()
  expect(ranking.choose(pod({ spec: { topologySpreadConstraints: [spread] } }))).toBeUndefined()
  const ports = [{ containerPort: 80, hostPort: 80 }]
  expect(ranking.choose(pod({ spec: { containers: [{ name: 'c', image: 'x', ports }] } }))).toBeUndefined()
  // A pod that repels others concerns every other pod.
  ledger.assume(pod({ name: 'repels', spec: { affinity: { podAntiAffinity: required } } }), 'a')
  expect(ranking.choose(pod({ name: 'plain' }))).toBeUndefined()
})
