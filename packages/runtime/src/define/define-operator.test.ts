import { ConfigMap } from '@kubewright/k8s'
import { describe, expect, test } from 'vitest'
import { defineKeyController } from '../controller/key-controller.ts'
import { channelSource } from '../controller/sources/channel-source.ts'
import { defineController } from './define-controller.ts'
import { defineOperator, isKeyController } from './define-operator.ts'

const byObject = defineController(ConfigMap, { reconcile: () => undefined })
const byKey = defineKeyController({ name: 'keys', sources: [channelSource()], reconcile: () => undefined })

describe('defineOperator', () => {
  test('takes controllers of objects and of keys, and fills in what was left out', () => {
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
    })
    expect(operator.controllers.map(isKeyController)).toEqual([false, true])
    // Webhooks alone make an operator, too.
    expect(defineOperator({ name: 'op' }).controllers).toEqual([])
    expect(Object.isFrozen(operator)).toBe(true)
  })

  test('true switches election and sharding on with all defaults', () => {
    expect(defineOperator({ name: 'op', controllers: [], leaderElection: true, sharding: true })).toMatchObject({
      leaderElection: {},
      sharding: {},
    })
  })

  test('refuses two parts of one name', () => {
    expect(() => defineOperator({ name: 'op', controllers: [byKey, byKey] })).toThrow(
      `Cannot define operator "op" as two controllers are named "keys": give one of them another 'name'`,
    )
    const part = { name: 'part', run: async () => undefined }
    expect(() => defineOperator({ name: 'op', controllers: [], runnables: [part, part] })).toThrow(
      /two runnables are named "part"/,
    )
  })

  test('refuses an empty namespace and names the cure', () => {
    expect(() => defineOperator({ name: 'op', controllers: [], namespaces: ['a', ''] })).toThrow(
      /'namespaces' has an empty entry: leave the list empty to look at all namespaces/,
    )
  })

  test.each(['leaderElection', 'sharding'] as const)('refuses a timing of %s that lets two work at once', (field) => {
    expect(() => defineOperator({ name: 'op', controllers: [], [field]: { renewDeadline: '20s' } })).toThrow(
      `Cannot define operator "op" as 'leaseDuration' (15s) must be greater than 'renewDeadline' (20s): a leader must stop before another may start`,
    )
  })
})
