import { crdOf, defineResource, type KubeObject } from '@kubewright/api'
import { garbageCollector } from '@kubewright/controllers'
import { ClusterRole, ConfigMap, CustomResourceDefinition, Event, Namespace, Secret } from '@kubewright/k8s'
import { s } from '@kubewright/schema'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Plane, startPlane } from './plane.ts'

const controllers = [garbageCollector()]
type Policy = 'Background' | 'Foreground' | 'Orphan'

const ownedBy = (owner: KubeObject, more: object = {}) => {
  const { apiVersion, kind, metadata } = owner
  return { apiVersion, kind, name: metadata.name, uid: metadata.uid, ...more }
}
const map = (name: string, owners: readonly object[] = [], more: object = {}) =>
  ConfigMap({ metadata: { name, namespace: 'test', ownerReferences: owners as never, ...more } })
const names = async ({ api }: Plane): Promise<string[]> =>
  (await api.list(ConfigMap, { namespace: 'test' })).map(({ metadata }) => metadata.name)

test('a chain of dependents is deleted with its first owner, and an object with another owner stays', async () => {
  await using plane = await startPlane({ controllers })
  const { api } = plane
  const a = await api.create(map('a'))
  const other = await api.create(map('other'))
  const b = await api.create(map('b', [ownedBy(a)]))
  await api.create(map('c', [ownedBy(b)]))
  await api.create(map('shared', [ownedBy(a), ownedBy(other)]))
  await plane.settle()
  expect((await names(plane)).sort()).toEqual(['a', 'b', 'c', 'other', 'shared'])
  await api.delete(ConfigMap, 'test/a', { propagationPolicy: 'Background' })
  await plane.settle()
  expect(await names(plane)).toEqual(['other', 'shared'])
  expect((await api.get(ConfigMap, 'test/shared')).metadata.ownerReferences).toEqual([ownedBy(other)])
})

test('a foreground deletion waits only for dependents that block it', async () => {
  await using plane = await startPlane({ controllers })
  const { api } = plane
  const hold = { finalizers: ['example.com/hold'] }
  const a = await api.create(map('a'))
  await api.create(map('blocks', [ownedBy(a, { blockOwnerDeletion: true })], hold))
  await api.create(map('does-not', [ownedBy(a)], hold))
  await api.delete(ConfigMap, 'test/a', { propagationPolicy: 'Foreground' })
  await plane.settle()
  const waiting = await api.list(ConfigMap, { namespace: 'test' })
  expect(waiting.map(({ metadata }) => metadata.deletionTimestamp !== undefined)).toEqual([true, true, true])
  await api.patch(ConfigMap, 'test/blocks', { metadata: { finalizers: null } } as never)
  await plane.settle()
  expect(await names(plane)).toEqual(['does-not'])
})

test('cyclic owners in foreground deletion are deleted', async () => {
  await using plane = await startPlane({ controllers })
  const { api } = plane
  const a = await api.create(map('a'))
  const b = await api.create(map('b', [ownedBy(a, { blockOwnerDeletion: true })]))
  const ownerReferences = [ownedBy(b, { blockOwnerDeletion: true })]
  await api.patch(ConfigMap, 'test/a', { metadata: { ownerReferences } } as never)
  await plane.settle()
  await api.delete(ConfigMap, 'test/a', { propagationPolicy: 'Foreground' })
  await plane.advance('1m')
  expect(await names(plane)).toEqual([])
})

test('an owner in another namespace counts as absent, and the reference is reported by an event', async () => {
  await using plane = await startPlane({ controllers })
  const { api } = plane
  await api.create(Namespace({ metadata: { name: 'other' } }))
  const a = await api.create(map('a'))
  const child = (name: string, namespace: string) =>
    ConfigMap({ metadata: { name, namespace, ownerReferences: [ownedBy(a)] as never } })
  await api.create(child('wrong', 'other'))
  await plane.settle()
  await api.create(child('right', 'test'))
  await plane.settle()
  expect(await api.find(ConfigMap, 'other/wrong')).toBeUndefined()
  expect(await api.find(ConfigMap, 'test/right')).toBeDefined()
  const [event] = await api.list(Event, { namespace: 'other' })
  expect([event?.reason, event?.involvedObject.name, event?.message]).toEqual([
    'OwnerRefInvalidNamespace',
    'wrong',
    `ownerRef [v1/ConfigMap, namespace: other, name: a, uid: ${a.metadata.uid}] does not exist in namespace "other"`,
  ])
})

test('a cluster-scoped object with a namespaced owner is not deleted', async () => {
  await using plane = await startPlane({ controllers })
  const { api } = plane
  const a = await api.create(map('a'))
  await api.create(ClusterRole({ metadata: { name: 'r', ownerReferences: [ownedBy(a)] as never } }))
  await api.delete(ConfigMap, 'test/a')
  await plane.settle()
  expect(await api.find(ClusterRole, 'r')).toBeDefined()
})

const Widget = defineResource({
  group: 'example.com',
  version: 'v1',
  kind: 'Widget',
  spec: s.object({ size: s.int().optional() }),
})
const define = async ({ api }: Plane): Promise<void> => {
  await api.create(crdOf(Widget))
}

test('custom resources are collected while CRDs are created and deleted', async () => {
  await using plane = await startPlane({ controllers })
  const { api } = plane
  // The owner's kind is not served yet, but may be later.
  const unknown = { apiVersion: 'example.com/v1', kind: 'Widget', name: 'w', uid: 'never' }
  await api.create(map('early', [unknown]))
  await plane.settle()
  expect(await names(plane)).toEqual(['early'])
  await define(plane)
  await plane.advance('1s')
  expect(await names(plane)).toEqual([])
  const w = await api.create(Widget({ metadata: { name: 'w', namespace: 'test' }, spec: {} }))
  await api.create(map('child', [ownedBy(w as KubeObject)]))
  await plane.settle()
  expect(await names(plane)).toEqual(['child'])
  await api.delete(CustomResourceDefinition, 'widgets.example.com')
  await plane.advance('1m')
  expect(await names(plane)).toEqual([])
})

test('a change of the preferred version deletes nothing', async () => {
  await using plane = await startPlane({ controllers })
  const { api } = plane
  await define(plane)
  await plane.advance('1s')
  const w = await api.create(Widget({ metadata: { name: 'w', namespace: 'test' }, spec: {} }))
  await api.create(map('child', [ownedBy(w as KubeObject)]))
  const crd = await api.get(CustomResourceDefinition, 'widgets.example.com')
  const [version] = crd.spec.versions
  const versions = [
    { ...version, name: 'v2', storage: false },
    { ...version, storage: true },
  ]
  await api.patch(CustomResourceDefinition, 'widgets.example.com', { spec: { versions } } as never)
  await plane.advance('2m')
  expect(await names(plane)).toEqual(['child'])
  await api.delete(Widget, 'test/w')
  await plane.advance('1s')
  expect(await names(plane)).toEqual([])
})

interface Item {
  readonly owners: readonly { readonly of: number; readonly block: boolean }[]
  readonly absentOwner: boolean
  readonly secret: boolean
}
interface Step {
  readonly of: number
  readonly policy: Policy
  readonly restart: boolean
}

const items: fc.Arbitrary<Item[]> = fc
  .array(
    fc.record({
      owners: fc.array(fc.record({ of: fc.nat(7), block: fc.boolean() }), { maxLength: 3 }),
      absentOwner: fc.boolean(),
      secret: fc.boolean(),
    }),
    { minLength: 2, maxLength: 8 },
  )
  // Owners come before their dependents, and each owner at most once.
  .map((list) =>
    list.map((item, at) => ({
      ...item,
      absentOwner: item.absentOwner && at % 3 === 0,
      owners: [...new Map(item.owners.filter(({ of }) => of < at).map((owner) => [owner.of, owner])).values()],
    })),
  )
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.record({
    of: fc.nat(7),
    policy: fc.constantFrom<Policy>('Background', 'Foreground', 'Orphan'),
    restart: fc.nat(9).map((value) => value === 0),
  }),
  { minLength: 1, maxLength: 4 },
)

/**
 * A model of garbage collection: an object is deleted when it had owners and none exists; references to deleted owners
 * are removed.
 */
class Model {
  readonly left = new Map<number, Set<number>>()

  create(at: number, { owners, absentOwner }: Item): void {
    const there = owners.map(({ of }) => of).filter((of) => this.left.has(of))
    const had = owners.length > 0 || absentOwner
    if (!had || there.length > 0) this.left.set(at, new Set(there))
  }

  delete(at: number, policy: Policy): void {
    if (!this.left.delete(at)) return
    for (const [other, owners] of [...this.left]) {
      if (!owners.delete(at)) continue
      if (policy !== 'Orphan' && owners.size === 0) this.delete(other, 'Background')
    }
  }
}

test('the garbage collector matches a model for arbitrary owners and deletions', { timeout: 120_000 }, async () => {
  await using plane = await startPlane({ controllers })
  const { api } = plane
  let run = 0
  await fc.assert(
    fc.asyncProperty(items, steps, async (list, todo) => {
      const prefix = `r${run++}-`
      const kinds = list.map(({ secret }) => (secret ? Secret : ConfigMap) as typeof ConfigMap)
      const model = new Model()
      const uids = new Map<number, string>()
      const reference = (of: number, block: boolean): object => {
        const { kind } = kinds[of]!
        return { apiVersion: 'v1', kind, name: `${prefix}${of}`, uid: uids.get(of), blockOwnerDeletion: block }
      }
      for (const [at, item] of list.entries()) {
        const absent = { apiVersion: 'v1', kind: 'ConfigMap', name: `${prefix}none`, uid: `${prefix}none` }
        const owners = item.owners.map(({ of, block }) => reference(of, block))
        const ownerReferences = [...owners, ...(item.absentOwner ? [absent] : [])] as never
        const metadata = { name: `${prefix}${at}`, namespace: 'test', ownerReferences }
        uids.set(at, (await api.create(kinds[at]!({ metadata }))).metadata.uid)
        model.create(at, item)
      }
      const check = async (): Promise<void> => {
        await plane.settle()
        const found = new Map<number, Set<number>>()
        for (const kind of [ConfigMap, Secret] as (typeof ConfigMap)[]) {
          for (const { metadata } of await api.list(kind, { namespace: 'test' })) {
            if (!metadata.name.startsWith(prefix)) continue
            const owners = (metadata.ownerReferences ?? []).map(({ name }) => Number(name.slice(prefix.length)))
            found.set(Number(metadata.name.slice(prefix.length)), new Set(owners))
          }
        }
        expect([...found].sort()).toEqual([...model.left].sort())
      }
      await check()
      for (const { of, policy, restart } of todo) {
        if (restart) await plane.restart()
        if (!model.left.has(of)) continue
        await api.delete(kinds[of]!, `test/${prefix}${of}`, { propagationPolicy: policy })
        model.delete(of, policy)
        await check()
      }
      for (const at of [...model.left.keys()]) {
        await api.delete(kinds[at]!, `test/${prefix}${at}`, { propagationPolicy: 'Background' }).catch(() => undefined)
      }
      expect(plane.errors()).toEqual([])
    }),
    { numRuns: 40 },
  )
})
