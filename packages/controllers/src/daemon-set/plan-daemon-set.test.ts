import type { DaemonSet, Node, Pod } from '@kubewright/k8s'
import { expect, test } from 'vitest'
import { daemonSet, node, now, type PodFacts, pod } from '../testdata/objects.ts'
import { daemonPod, nodeOf } from './daemon-pod.ts'
import { daemonSetStatus, planDaemonSet } from './plan-daemon-set.ts'

const daemon = (on: string, facts: PodFacts = {}): Pod =>
  pod({
    name: `agent-${on}`,
    node: on,
    ready: 60,
    ...facts,
    labels: { 'controller-revision-hash': 'v1', ...facts.labels },
  })
const facts = (set: DaemonSet, nodes: readonly Node[], ...pods: Pod[]) => ({ set, nodes, pods, hash: 'v1', now })
const plan = (set: DaemonSet, nodes: readonly Node[], ...pods: Pod[]) => {
  const made = planDaemonSet(facts(set, nodes, ...pods))
  return { create: made.create, delete: made.delete.map(({ metadata }) => metadata.name) }
}
const taint = (effect: 'NoSchedule' | 'NoExecute') => ({ spec: { taints: [{ key: 'x', effect }] } })
const [a, b] = [node('a'), node('b')]

test('planDaemonSet() creates a pod on each eligible node', () => {
  const ssd = daemonSet({
    template: { ...daemonSet().spec.template, spec: { containers: [], nodeSelector: { disk: 'ssd' } } } as never,
  })
  expect(plan(daemonSet(), [a, b], daemon('a'))).toEqual({ create: ['b'], delete: [] })
  expect(plan(ssd, [a, node('c', { labels: { disk: 'ssd' } })])).toEqual({ create: ['c'], delete: [] })
})

test('planDaemonSet() keeps pods on tainted nodes, except with NoExecute taints', () => {
  expect(plan(daemonSet(), [node('a', taint('NoSchedule')), node('b', taint('NoSchedule'))], daemon('a'))).toEqual({
    create: [],
    delete: [],
  })
  expect(plan(daemonSet(), [node('a', taint('NoExecute'))], daemon('a'))).toEqual({ create: [], delete: ['agent-a'] })
})

test('planDaemonSet() keeps pods on unhealthy nodes', () => {
  const ill = node('a', { spec: { taints: [{ key: 'node.kubernetes.io/unreachable', effect: 'NoExecute' }] } })
  expect(plan(daemonSet(), [ill])).toEqual({ create: ['a'], delete: [] })
})

test('planDaemonSet() deletes finished pods, duplicates and pods of deleted nodes', () => {
  const double = daemon('a', { name: 'double', age: 5 })
  expect(plan(daemonSet(), [a], daemon('a', { age: 60 }), double)).toEqual({ create: [], delete: ['double'] })
  expect(planDaemonSet(facts(daemonSet(), [a], daemon('a', { phase: 'Failed' }))).ended).toHaveLength(1)
  expect(plan(daemonSet(), [a], daemon('a'), daemon('gone'))).toEqual({ create: [], delete: ['agent-gone'] })
})

test('planDaemonSet() replaces old pods within maxUnavailable', () => {
  const old = { labels: { 'controller-revision-hash': 'v0' } }
  const nodes = [a, b, node('c')]
  expect(plan(daemonSet(), nodes, daemon('a', old), daemon('b', old), daemon('c')).delete).toEqual(['agent-a'])
  const unready = pod({ name: 'agent-c', node: 'c', labels: { 'controller-revision-hash': 'v1' } })
  expect(plan(daemonSet(), nodes, daemon('a', old), daemon('b', old), unready).delete).toEqual([])
  const onDelete = daemonSet({ updateStrategy: { type: 'OnDelete' } })
  expect(plan(onDelete, nodes, daemon('a', old), daemon('b'), daemon('c')).delete).toEqual([])
})

test('planDaemonSet() replaces unavailable old pods at once', () => {
  const broken = pod({ name: 'agent-b', node: 'b', labels: { 'controller-revision-hash': 'v0' } })
  expect(plan(daemonSet(), [a, b], daemon('a'), broken).delete).toEqual(['agent-b'])
})

test('planDaemonSet() starts the new pod first when maxSurge is set', () => {
  const surging = daemonSet({
    updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
  })
  const old = (on: string) => daemon(on, { name: `old-${on}`, age: 60, labels: { 'controller-revision-hash': 'v0' } })
  expect(plan(surging, [a, b], old('a'), old('b'))).toEqual({ create: ['a'], delete: [] })
  expect(plan(surging, [a, b], old('a'), daemon('a'), daemon('b'))).toEqual({ create: [], delete: ['old-a'] })
})

test('daemonSetStatus() counts nodes', () => {
  const status = daemonSetStatus(
    facts(daemonSet(), [a, b, node('c', taint('NoSchedule'))], daemon('a'), daemon('c')),
    0,
  )
  expect(status).toEqual({
    desiredNumberScheduled: 2,
    currentNumberScheduled: 1,
    numberMisscheduled: 1,
    numberReady: 1,
    numberAvailable: 1,
    numberUnavailable: 1,
    updatedNumberScheduled: 1,
    observedGeneration: 1,
  })
})

test('daemonPod() targets one node and tolerates its unhealthy states', () => {
  const draft = daemonPod(daemonSet(), 'a', 'v1')
  expect(draft.metadata.labels).toMatchObject({ 'controller-revision-hash': 'v1' })
  expect(draft.spec.tolerations?.map(({ key, effect }) => `${key}:${effect}`)).toContain(
    'node.kubernetes.io/not-ready:NoExecute',
  )
  expect(nodeOf({ ...pod(), spec: draft.spec })).toBe('a')
})

test('planDaemonSet() creates and deletes at most 250 pods at once', () => {
  const nodes = Array.from({ length: 2000 }, (_, index) => node(`n${index}`))
  const none = planDaemonSet({ set: daemonSet(), nodes, pods: [], hash: 'v1', now })
  expect(none.create).toEqual(nodes.slice(0, 250).map(({ metadata }) => metadata.name))
  const stray = Array.from({ length: 600 }, (_, index) => pod({ name: `p${index}`, node: `gone${index}` }))
  const strays = planDaemonSet({ set: daemonSet(), nodes: [], pods: stray, hash: 'v1', now })
  expect(strays.delete).toEqual(stray.slice(0, 250))
})
