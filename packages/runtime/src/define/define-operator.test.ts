import { defineResource } from '@kubewright/api'
import { ConfigMap } from '@kubewright/k8s'
import { s } from '@kubewright/schema'
import { describe, expect, test } from 'vitest'
import { defineKeyController } from '../controller/key-controller.ts'
import { channelSource } from '../controller/sources/channel-source.ts'
import { defineController } from './define-controller.ts'
import { defineConversion, spoke } from './define-conversion.ts'
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
      metricsHandlers: {},
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

  describe('with versions that have different fields', () => {
    const versions = {
      v1: { storage: true, spec: s.object({ image: s.string(), replicas: s.int().optional() }) },
      v1beta1: { spec: s.object({ container: s.string(), replicas: s.string().optional() }) },
    } as const
    const names = { group: 'ajd.example.com', kind: 'Home' }
    const Home = defineResource({ ...names, versions })

    test('refuses them and names the fields that each direction loses', () => {
      const refused =
        `Cannot define operator "op" as Home has versions with different fields and no conversion: ` +
        'from v1beta1 to v1, objects lose spec.container, spec.replicas (string, not integer); ' +
        'from v1 to v1beta1, objects lose spec.image, spec.replicas (integer, not string). ' +
        `Add a conversion to 'conversions', as in defineConversion(Home, [...]), ` +
        `or accept the loss with conversion: 'none' in defineResource`
      const reconcile = () => undefined
      expect(() => defineOperator({ name: 'op', kinds: [Home] })).toThrow(new TypeError(refused))
      expect(() => defineOperator({ name: 'op', controllers: [defineController(Home, { reconcile })] })).toThrow(
        refused,
      )
      const owner = defineController(ConfigMap, { owns: [Home.versions.v1beta1], reconcile })
      expect(() => defineOperator({ name: 'op', controllers: [owner] })).toThrow(refused)
    })

    test('accepts them with a conversion', () => {
      const conversion = defineConversion(Home, [
        spoke(Home.versions.v1beta1, {
          toHub: ({ spec }) => ({ spec: { image: spec.container } }),
          fromHub: ({ spec }) => ({ spec: { container: spec.image } }),
        }),
      ])
      expect(defineOperator({ name: 'op', kinds: [Home], conversions: [conversion] }).conversions).toHaveLength(1)
    })

    test("accepts them with conversion: 'none', and if another project installs them", () => {
      const meant = defineResource({ ...names, versions, conversion: 'none' })
      const external = defineResource({ ...names, versions, external: true })
      expect(defineOperator({ name: 'op', kinds: [meant, external] }).kinds).toHaveLength(2)
    })

    test('accepts versions that differ in no field', () => {
      const same = {
        v1: { storage: true, spec: s.object({ size: s.int({ minimum: 1 }).default(1) }) },
        v1beta1: { deprecated: true, spec: s.object({ size: s.int().describe('The size.').optional() }) },
      } as const
      expect(defineOperator({ name: 'op', kinds: [defineResource({ ...names, versions: same })] }).name).toBe('op')
    })
  })
})
