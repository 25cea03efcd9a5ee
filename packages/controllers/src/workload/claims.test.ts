import { selectorFrom } from '@kubewright/api'
import { expect, test } from 'vitest'
import { pod, replicaSet } from '../testdata/objects.ts'
import { planClaims } from './claims.ts'

const selector = selectorFrom({ matchLabels: { app: 'web' } })
const web = { app: 'web' }
const mine = { kind: 'ReplicaSet', name: 'web', uid: 'uid-web' }
const other = { ...mine, name: 'else', uid: 'uid-else' }

test('planClaims() keeps, adopts and releases by controller and selector', () => {
  const owned = pod({ name: 'owned', labels: web, owner: mine })
  const strayed = pod({ name: 'strayed', labels: { app: 'other' }, owner: mine })
  const orphan = pod({ name: 'orphan', labels: web })
  const unrelated = pod({ name: 'unrelated', labels: { app: 'other' } })
  const foreign = pod({ name: 'foreign', labels: web, owner: other })
  const going = pod({ name: 'going', labels: web, deleted: true })
  const claims = planClaims(replicaSet({ name: 'web' }), selector, [owned, strayed, orphan, unrelated, foreign, going])
  expect(claims).toEqual({ owned: [owned], adopt: [orphan], release: [strayed] })
})

test('planClaims() neither adopts nor releases for an owner that is being deleted', () => {
  const pods = [
    pod({ name: 'a', labels: web }),
    pod({ name: 'b', labels: {}, owner: mine }),
    pod({ name: 'c', labels: web, owner: mine }),
  ]
  const claims = planClaims(replicaSet({ name: 'web', deleted: true }), selector, pods)
  expect(claims).toEqual({ owned: [pods[2]], adopt: [], release: [] })
})

test('planClaims() adopts only objects that mayAdopt accepts', () => {
  const pods = [pod({ name: 'a', labels: web, phase: 'Failed' })]
  expect(planClaims(replicaSet({ name: 'web' }), selector, pods, () => false).adopt).toEqual([])
})
