import { findCondition, toTime } from '@kubewright/api'
import { expect, test } from 'vitest'
import { deployment, now, replicaSet } from '../testdata/objects.ts'
import { deploymentStatus, isComplete, nextProgressCheck, pauseCondition } from './deployment-status.ts'

const facts = (more: object = {}) => ({ newSet: undefined, oldSets: [], judgesProgress: true, now, ...more })
const progressing = (reason: string, secondsAgo: number, status = 'True') => ({
  type: 'Progressing',
  status,
  reason,
  message: '',
  lastUpdateTime: toTime(now - secondsAgo * 1000),
  lastTransitionTime: toTime(now - secondsAgo * 1000),
})

test('deploymentStatus() adds up the replica sets', () => {
  const newSet = replicaSet({ name: 'new', replicas: 2, available: 1 })
  const status = deploymentStatus(
    deployment(),
    facts({ newSet, oldSets: [replicaSet({ name: 'old', replicas: 2, available: 2 })] }),
  )
  expect(status).toMatchObject({
    observedGeneration: 1,
    replicas: 4,
    updatedReplicas: 2,
    readyReplicas: 3,
    availableReplicas: 3,
    unavailableReplicas: 1,
    terminatingReplicas: 0,
  })
  expect(findCondition(status.conditions, 'Available')).toMatchObject({
    status: 'True',
    reason: 'MinimumReplicasAvailable',
  })
})

test('deploymentStatus() omits zeros', () => {
  const status = deploymentStatus(deployment({ replicas: 0 }), facts({ newSet: replicaSet({ replicas: 0 }) }))
  expect(Object.keys(status).sort()).toEqual(['conditions', 'observedGeneration', 'terminatingReplicas'])
})

test('deploymentStatus() omits terminatingReplicas when a replica set does not report it', () => {
  const { terminatingReplicas: _, ...status } = replicaSet({}).status ?? { replicas: 0 }
  expect(
    deploymentStatus(deployment(), facts({ newSet: { ...replicaSet({}), status } })).terminatingReplicas,
  ).toBeUndefined()
})

test('deploymentStatus() reports a complete roll-out', () => {
  const status = deploymentStatus(
    deployment(),
    facts({ newSet: replicaSet({ name: 'new', replicas: 3, available: 3 }) }),
  )
  expect(isComplete(deployment(), status)).toBe(true)
  expect(findCondition(status.conditions, 'Progressing')).toMatchObject({
    reason: 'NewReplicaSetAvailable',
    message: 'ReplicaSet "new" has successfully progressed.',
  })
})

test('deploymentStatus() updates the time of Progressing without a transition', () => {
  const before = deployment(
    {},
    { replicas: 3, updatedReplicas: 1, conditions: [progressing('ReplicaSetUpdated', 100)] },
  )
  const status = deploymentStatus(before, facts({ newSet: replicaSet({ name: 'new', replicas: 2, available: 0 }) }))
  expect(findCondition(status.conditions, 'Progressing')).toEqual({
    type: 'Progressing',
    status: 'True',
    reason: 'ReplicaSetUpdated',
    message: 'ReplicaSet "new" is progressing.',
    lastUpdateTime: toTime(now),
    lastTransitionTime: toTime(now - 100_000),
  })
})

test('deploymentStatus() reports a missed deadline, and nextProgressCheck() the delay until it', () => {
  const stuck = (seconds: number) => {
    const conditions = [progressing('ReplicaSetUpdated', seconds)]
    return deployment({}, { replicas: 2, updatedReplicas: 2, unavailableReplicas: 2, conditions })
  }
  const newSet = replicaSet({ name: 'new', replicas: 2, available: 0 })
  const late = deploymentStatus(stuck(601), facts({ newSet }))
  expect(findCondition(late.conditions, 'Progressing')).toMatchObject({
    status: 'False',
    reason: 'ProgressDeadlineExceeded',
    message: 'ReplicaSet "new" has timed out progressing.',
  })
  expect(nextProgressCheck(stuck(601), late, now)).toBeUndefined()
  const early = deploymentStatus(stuck(100), facts({ newSet }))
  expect(nextProgressCheck(stuck(100), early, now)).toBe(501_000)
})

test('deploymentStatus() copies the condition ReplicaFailure of a replica set', () => {
  const failure = {
    type: 'ReplicaFailure',
    status: 'True',
    reason: 'FailedCreate',
    message: 'quota',
    lastTransitionTime: toTime(now),
  }
  const set = replicaSet({ name: 'new' })
  const newSet = { ...set, status: { ...set.status, replicas: 0, conditions: [failure] } }
  const status = deploymentStatus(deployment(), facts({ newSet }))
  expect(findCondition(status.conditions, 'ReplicaFailure')).toEqual({ ...failure, lastUpdateTime: toTime(now) })
  const mended = deploymentStatus(deployment({}, status), facts({ newSet: set }))
  expect(findCondition(mended.conditions, 'ReplicaFailure')).toBeUndefined()
})

test('pauseCondition() reports pausing and resuming once, and never hides a missed deadline', () => {
  expect(pauseCondition(deployment({ paused: true }), now)).toMatchObject({
    status: 'Unknown',
    reason: 'DeploymentPaused',
  })
  const paused = { conditions: [progressing('DeploymentPaused', 5, 'Unknown')] }
  expect(pauseCondition(deployment({ paused: true }, paused), now)).toBeUndefined()
  expect(pauseCondition(deployment({}, paused), now)).toMatchObject({
    reason: 'DeploymentResumed',
    message: 'Deployment is resumed',
  })
  const late = { conditions: [progressing('ProgressDeadlineExceeded', 5, 'False')] }
  expect(pauseCondition(deployment({ paused: true }, late), now)).toBeUndefined()
})
