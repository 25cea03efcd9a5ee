import type { Pod, StatefulSet } from '@kubewright/k8s'
import { expect, test } from 'vitest'
import { now, type PodFacts, pod, statefulSet } from '../testdata/objects.ts'
import { planStatefulSet, type StatefulAction } from './plan-stateful-set.ts'
import { claimOwners, claimsOf, ordinalOf, statefulPod } from './stateful-pod.ts'
import { statefulSetStatus } from './stateful-set-status.ts'

const member = (ordinal: number, facts: PodFacts = {}): Pod => {
  const name = `db-${ordinal}`
  const identity = { 'statefulset.kubernetes.io/pod-name': name, 'apps.kubernetes.io/pod-index': String(ordinal) }
  return pod({ name, ready: 60, ...facts, labels: { ...identity, 'controller-revision-hash': 'v1', ...facts.labels } })
}
const fresh = { labels: { 'controller-revision-hash': 'v2' } }
const facts = (set: StatefulSet, ...pods: Pod[]) => ({ set, pods, currentRevision: 'v1', updateRevision: 'v1', now })
const brief = (actions: readonly StatefulAction[]) =>
  actions.map((action) => `${action.do} ${'pod' in action ? action.pod.metadata.name : action.ordinal}`)
const plan = (set: StatefulSet, ...pods: Pod[]) => brief(planStatefulSet(facts(set, ...pods)))

test('planStatefulSet() creates pods in order, each when its predecessors are available', () => {
  expect(plan(statefulSet())).toEqual(['create 0'])
  expect(plan(statefulSet(), pod({ name: 'db-0' }))).toEqual([])
  expect(plan(statefulSet(), member(0))).toEqual(['create 1'])
  expect(plan(statefulSet({ minReadySeconds: 90 }), member(0))).toEqual([])
})

test('planStatefulSet() fills a gap before it continues', () => {
  expect(plan(statefulSet(), member(0), member(2))).toEqual(['create 1'])
})

test('planStatefulSet() creates all pods at once with podManagementPolicy Parallel', () => {
  expect(plan(statefulSet({ podManagementPolicy: 'Parallel' }))).toEqual(['create 0', 'create 1', 'create 2'])
})

test('planStatefulSet() starts at spec.ordinals.start', () => {
  expect(plan(statefulSet({ ordinals: { start: 5 } }), member(0))).toEqual(['create 5'])
})

test('planStatefulSet() deletes the highest pod first, one at a time, when all others are available', () => {
  const all = [member(0), member(1), member(2)]
  expect(plan(statefulSet({ replicas: 1 }), ...all)).toEqual(['delete db-2'])
  expect(plan(statefulSet({ replicas: 1 }), member(0), member(1), member(2, { deleted: true }))).toEqual([])
  expect(plan(statefulSet({ replicas: 2 }), member(0), pod({ name: 'db-1' }), member(2))).toEqual([])
  expect(plan(statefulSet({ replicas: 0, podManagementPolicy: 'Parallel' }), ...all)).toHaveLength(3)
})

test('planStatefulSet() deletes an unavailable pod if it is the lowest unavailable one', () => {
  expect(plan(statefulSet({ replicas: 1 }), member(0), pod({ name: 'db-1', phase: 'Pending' }))).toEqual([
    'delete db-1',
  ])
})

test('planStatefulSet() replaces finished pods under the same name', () => {
  expect(plan(statefulSet(), member(0, { phase: 'Failed' }))).toEqual(['delete db-0'])
  expect(plan(statefulSet(), member(0, { phase: 'Succeeded', deleted: true }))).toEqual([])
})

test('planStatefulSet() updates from the highest ordinal down to the partition, one at a time', () => {
  const update = (set: StatefulSet, ...pods: Pod[]) =>
    brief(planStatefulSet({ ...facts(set, ...pods), updateRevision: 'v2' }))
  const rolling = (partition: number) =>
    statefulSet({ updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition } } })
  expect(update(rolling(0), member(0), member(1), member(2))).toEqual(['delete db-2'])
  expect(update(rolling(0), member(0), member(1), member(2, fresh))).toEqual(['delete db-1'])
  expect(update(rolling(2), member(0), member(1), member(2, fresh))).toEqual([])
  expect(update(rolling(0), member(0), member(1), pod({ name: 'db-2', ...fresh }))).toEqual([])
  const onDelete = statefulSet({ updateStrategy: { type: 'OnDelete' } })
  expect(update(onDelete, member(0), member(1), member(2))).toEqual([])
})

test('planStatefulSet() creates pods below the partition from the current revision', () => {
  const set = statefulSet({ updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 2 } } })
  const actions = planStatefulSet({ ...facts(set, member(0)), updateRevision: 'v2' })
  expect(actions).toEqual([{ do: 'create', ordinal: 1, revision: 'current' }])
})

test('planStatefulSet() repairs the identity labels of a pod', () => {
  const nameless = pod({ name: 'db-0', ready: 60, labels: { 'controller-revision-hash': 'v1' } })
  expect(plan(statefulSet({ replicas: 1 }), nameless)).toEqual(['repair db-0'])
})

test('statefulSetStatus() counts revisions, and promotes the update revision when all pods are updated', () => {
  const half = { ...facts(statefulSet({ replicas: 2 }), member(0), member(1, fresh)), updateRevision: 'v2' }
  expect(statefulSetStatus(half, 0)).toMatchObject({
    replicas: 2,
    readyReplicas: 2,
    currentReplicas: 1,
    updatedReplicas: 1,
    currentRevision: 'v1',
    updateRevision: 'v2',
    collisionCount: 0,
  })
  const done = { ...facts(statefulSet({ replicas: 1 }), member(0, fresh)), updateRevision: 'v2' }
  expect(statefulSetStatus(done, 0)).toMatchObject({ currentRevision: 'v2', currentReplicas: 1, updatedReplicas: 1 })
})

const claims = [{ metadata: { name: 'data' }, spec: { accessModes: ['ReadWriteOnce' as const] } }]

test('statefulPod() has a stable name, host name and claims', () => {
  const set = statefulSet({ volumeClaimTemplates: claims as never })
  const draft = statefulPod(set, set.spec.template, 'v1', 2)
  expect(draft.metadata.name).toBe('db-2')
  expect(draft.metadata.labels).toEqual({
    app: 'web',
    'statefulset.kubernetes.io/pod-name': 'db-2',
    'apps.kubernetes.io/pod-index': '2',
    'controller-revision-hash': 'v1',
  })
  expect(draft.spec).toMatchObject({ hostname: 'db-2', subdomain: 'db' })
  expect(draft.spec.volumes?.[0]).toMatchObject({ name: 'data', persistentVolumeClaim: { claimName: 'data-db-2' } })
  expect(claimsOf(set, 2)).toMatchObject([
    { metadata: { name: 'data-db-2', namespace: 'test', labels: { app: 'web' } } },
  ])
})

test('ordinalOf() parses only pod names of the set', () => {
  expect(ordinalOf(pod({ name: 'db-12' }), statefulSet())).toBe(12)
  expect(ordinalOf(pod({ name: 'dbx-1' }), statefulSet())).toBeUndefined()
  expect(ordinalOf(pod({ name: 'db-x' }), statefulSet())).toBeUndefined()
})

test.each([
  ['Retain', 'Retain', 0, undefined],
  ['Delete', 'Retain', 0, ['StatefulSet']],
  ['Retain', 'Delete', 0, undefined],
  ['Retain', 'Delete', 5, ['Pod']],
  ['Delete', 'Delete', 0, ['StatefulSet']],
  ['Delete', 'Delete', 5, ['Pod']],
])('claimOwners() with whenDeleted %s and whenScaled %s for ordinal %i', (whenDeleted, whenScaled, ordinal, kinds) => {
  const set = statefulSet({ persistentVolumeClaimRetentionPolicy: { whenDeleted, whenScaled } as never })
  const claim = {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: pod({ name: 'c' }).metadata,
    spec: {},
  } as const
  expect(claimOwners(claim, set, member(ordinal))?.map(({ kind }) => kind)).toEqual(kinds)
})

test('planStatefulSet() creates at most 500 pods at once, whatever the number of replicas', () => {
  const largest = 2 ** 31 - 1
  const huge = { replicas: largest, podManagementPolicy: 'Parallel', ordinals: { start: 7 } } as const
  expect(plan(statefulSet(huge))).toEqual(Array.from({ length: 500 }, (_, index) => `create ${index + 7}`))
  const some = Array.from({ length: 10 }, (_, index) => member(index + 7))
  expect(plan(statefulSet(huge), ...some)).toHaveLength(500)
  expect(plan(statefulSet({ replicas: largest }), member(0))).toEqual(['create 1'])
  // The update continues only when the highest pod exists.
  const next = planStatefulSet({ ...facts(statefulSet({ replicas: largest }), member(0)), updateRevision: 'v2' })
  expect(brief(next)).toEqual(['create 1'])
})
