import { toMicroTime, toTime } from '@kubewright/api'
import type { Node } from '@kubewright/k8s'
import { expect, test } from 'vitest'
import { now } from '../testdata/objects.ts'
import { lostAt, lostConditions, observeNode } from './node-health.ts'

function nodeWith(ready?: { readonly status: string; readonly heartbeat: number }, uid = 'u'): Node {
  const conditions =
    ready === undefined
      ? []
      : [{ type: 'Ready', status: ready.status, reason: 'r', lastHeartbeatTime: toTime(ready.heartbeat) }]
  const metadata = { name: 'n', uid, creationTimestamp: toTime(now) }
  return { apiVersion: 'v1', kind: 'Node', metadata, status: { conditions } } as unknown as Node
}
const ready = nodeWith({ status: 'True', heartbeat: now })
const silentFor = (node: Node, seconds: number) =>
  lostAt(node, observeNode(undefined, node, undefined, now)) - now === seconds * 1000

test('lostAt() is 60 seconds after the creation of a node that never reported, and 50 after the last report', () => {
  expect(silentFor(nodeWith(), 60)).toBe(true)
  expect(silentFor(ready, 50)).toBe(true)
})

test('observeNode() counts a new heartbeat and a renewed Lease as signs of life, but not the same ones twice', () => {
  const first = observeNode(undefined, ready, undefined, now)
  expect(observeNode(first, ready, undefined, now + 30_000).probe).toBe(now)
  const later = nodeWith({ status: 'True', heartbeat: now + 20_000 })
  expect(observeNode(first, later, undefined, now + 30_000).probe).toBe(now + 30_000)
  const renewed = observeNode(first, ready, toMicroTime(now + 25_000), now + 30_000)
  expect(renewed.probe).toBe(now + 25_000)
  expect(observeNode(renewed, ready, toMicroTime(now + 25_000), now + 60_000).probe).toBe(now + 25_000)
})

test('observeNode() does not lose a node whose clock is wrong while it renews its Lease', () => {
  for (const skew of [-3_600_000, 3_600_000]) {
    let health = observeNode(undefined, ready, toMicroTime(now + skew), now)
    for (let time = now; time < now + 600_000; time += 20_000) {
      health = observeNode(health, ready, toMicroTime(time + skew), time)
      expect(lostAt(ready, health)).toBeGreaterThan(time)
    }
  }
})

test('observeNode() starts again for another node of the same name', () => {
  const first = observeNode(undefined, ready, toMicroTime(now), now)
  const next = nodeWith({ status: 'True', heartbeat: now }, 'other')
  expect(observeNode(first, next, undefined, now + 40_000).probe).toBe(now + 40_000)
})

test('lostConditions() sets reported conditions to Unknown and adds those that were never reported', () => {
  expect(lostConditions(ready, now)?.map(({ type, status, reason }) => `${type} ${status} ${reason}`)).toEqual([
    'Ready Unknown NodeStatusUnknown',
    'MemoryPressure Unknown NodeStatusNeverUpdated',
    'DiskPressure Unknown NodeStatusNeverUpdated',
    'PIDPressure Unknown NodeStatusNeverUpdated',
  ])
  expect(lostConditions(nodeWith({ status: 'Unknown', heartbeat: now }), now)).toBeUndefined()
})
