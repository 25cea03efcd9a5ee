import { expect, test } from 'vitest'
import { deployment, replicaSet, template } from '../testdata/objects.ts'
import { findNewSet, newReplicaSet, newSetReplicas, sameTemplate } from './new-replica-set.ts'
import { maxRevision, newSetAnnotations } from './revisions.ts'

const revision = 'deployment.kubernetes.io/revision'
const history = 'deployment.kubernetes.io/revision-history'

test('newSetAnnotations() copies the annotations of the deployment, except its revision and those of kubectl', () => {
  const last = 'kubectl.kubernetes.io/last-applied-configuration'
  const subject = deployment({}, undefined, { annotations: { note: 'x', [revision]: '7', [last]: '{}' } })
  expect(newSetAnnotations(subject, { old: 'y' }, 2n)).toEqual({ old: 'y', note: 'x', [revision]: '2' })
})

test('newSetAnnotations() keeps the revision history of a set after a rollback', () => {
  expect(newSetAnnotations(deployment(), { [revision]: '1' }, 3n)).toEqual({ [revision]: '3', [history]: '1' })
  expect(newSetAnnotations(deployment(), { [revision]: '3', [history]: '1' }, 5n)).toEqual({
    [revision]: '5',
    [history]: '1,3',
  })
  expect(newSetAnnotations(deployment(), { [revision]: '5' }, 3n)).toEqual({ [revision]: '5' })
})

test('newReplicaSet() sets name, owner, labels and revision', () => {
  const old = replicaSet({ name: 'old', replicas: 2, annotations: { [revision]: '4' } })
  const draft = newReplicaSet(deployment({ replicas: 3 }), [old])
  const hash = draft.metadata.labels?.['pod-template-hash']
  expect(draft.metadata.name).toBe(`web-${hash}`)
  expect(draft.metadata.ownerReferences).toMatchObject([{ kind: 'Deployment', name: 'web', controller: true }])
  expect(draft.metadata.annotations).toMatchObject({ [revision]: '5', 'deployment.kubernetes.io/max-replicas': '4' })
  expect(draft.spec.selector).toEqual({ matchLabels: { app: 'web', 'pod-template-hash': hash } })
  expect(draft.spec.template?.metadata?.labels).toEqual({ app: 'web', 'pod-template-hash': hash })
  expect(draft.spec.replicas).toBe(2)
  expect(newReplicaSet(deployment({}, { collisionCount: 1 }), [old]).metadata.name).not.toBe(draft.metadata.name)
})

test('newSetReplicas() grows up to the surge', () => {
  const subject = deployment({ replicas: 4 })
  expect(newSetReplicas(subject, [replicaSet({ replicas: 4 })], 0)).toBe(1)
  expect(newSetReplicas(subject, [replicaSet({ replicas: 5 })], 0)).toBe(0)
  expect(newSetReplicas(subject, [], 0)).toBe(4)
})

test('findNewSet() ignores the hash and takes the oldest of equals', () => {
  const made = newReplicaSet(deployment(), [])
  expect(sameTemplate(made.spec.template, template())).toBe(true)
  const sets = [
    replicaSet({ name: 'young', age: 1 }),
    replicaSet({ name: 'old', age: 9 }),
    replicaSet({ name: 'other', image: 'x', age: 99 }),
  ]
  expect(findNewSet(deployment(), sets)?.metadata.name).toBe('old')
  expect(maxRevision(sets)).toBe(0n)
})

test('maxRevision() and newReplicaSet() count int64 revisions exactly', () => {
  const old = replicaSet({ name: 'old', replicas: 2, annotations: { [revision]: '3546343826724305832' } })
  expect(maxRevision([old])).toBe(3546343826724305832n)
  expect(newReplicaSet(deployment(), [old]).metadata.annotations?.[revision]).toBe('3546343826724305833')
  const tooLarge = replicaSet({ name: 'large', annotations: { [revision]: '9223372036854775808' } })
  expect(maxRevision([tooLarge])).toBe(0n)
})

test('newSetAnnotations() keeps the latest 2000 characters of the revision history, however long it is', () => {
  const key = 'deployment.kubernetes.io/revision-history'
  const after = (history: string) => newSetAnnotations(deployment(), { [revision]: '7', [key]: history }, 9n)[key]
  expect(after('1,2')).toBe('1,2,7')
  expect(after('1234,'.repeat(50_000).slice(0, -1))).toBe(`${'1234,'.repeat(399)}7`)
  expect(after('1'.repeat(3000))).toBe('7')
})
