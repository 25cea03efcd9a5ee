import { ConfigMap } from '@kubewright/k8s'
import { describe, expect, test } from 'vitest'
import { defineKeyController } from '../controller/key-controller.ts'
import { channelSource } from '../controller/sources/channel-source.ts'
import { defineController } from './define-controller.ts'
import { defineOperator, isKeyController } from './define-operator.ts'

const byObject = defineController(ConfigMap, { reconcile: () => undefined })
const byKey = defineKeyController({ name: 'keys', sources: [channelSource()], reconcile: () => undefined })

describe('defineOperator', () => {
  test('rejects a name that objects cannot have', () => {
    expect(() => defineOperator({ name: 'my operator', controllers: [byObject] })).toThrow(
      `Cannot define operator "my operator" as 'name' cannot be part of the names of its roles, Leases and Services: a lowercase RFC 1123 subdomain`,
    )
  })

  test('accepts controllers of objects and of keys, and applies defaults', () => {
    const operator = defineOperator({ name: 'op', controllers: [byObject, byKey] })
    expect(operator).toEqual({
      name: 'op',
      kinds: [],
      controllers: [byObject, byKey],
      webhooks: [],
      conversions: [],
      runnables: [],
      namespaces: [],
      leaderElection: false,
      sharding: false,
      clusters: undefined,
      cache: {},
      checks: {},
      metrics: [],
    })
    expect(operator.controllers.map(isKeyController)).toEqual([false, true])
    // An operator may consist of webhooks only.
    expect(defineOperator({ name: 'op' }).controllers).toEqual([])
    expect(Object.isFrozen(operator)).toBe(true)
  })

  test('true enables election and sharding with all defaults', () => {
    expect(defineOperator({ name: 'op', controllers: [], leaderElection: true, sharding: true })).toMatchObject({
      leaderElection: {},
      sharding: {},
    })
  })

  test('rejects two parts with the same name', () => {
    expect(() => defineOperator({ name: 'op', controllers: [byKey, byKey] })).toThrow(
      `Cannot define operator "op" as two controllers are named "keys": give one of them another 'name'`,
    )
    const part = { name: 'part', run: async () => undefined }
    expect(() => defineOperator({ name: 'op', controllers: [], runnables: [part, part] })).toThrow(
      /two runnables are named "part"/,
    )
  })

  test('rejects an empty namespace and names the fix', () => {
    expect(() => defineOperator({ name: 'op', controllers: [], namespaces: ['a', ''] })).toThrow(
      /'namespaces' has an empty entry: use an empty list to watch all namespaces/,
    )
  })

  test.each(['leaderElection', 'sharding'] as const)(
    'rejects a timing of %s that would let two replicas work at once',
    (field) => {
      expect(() => defineOperator({ name: 'op', controllers: [], [field]: { renewDeadline: '20s' } })).toThrow(
        `Cannot define operator "op" as 'leaseDuration' (15s) must be greater than 'renewDeadline' (20s): a leader must stop before another may start`,
      )
    },
  )
})
