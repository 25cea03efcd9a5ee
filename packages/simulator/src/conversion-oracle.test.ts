import { defineResource, type KubeObject } from '@kubewright/api'
import { s } from '@kubewright/schema'
import { expect, test } from 'vitest'
import { checkConversions } from './conversion-oracle.ts'
import type { World } from './world.ts'

const spec = s.object({ size: s.int() })
const hub = defineResource({ group: 'g.example.com', version: 'v2', kind: 'Box', spec })
const spoke = defineResource({ group: 'g.example.com', version: 'v1', kind: 'Box', spec })

const boxAt = (version: number, status: string): KubeObject =>
  ({
    apiVersion: 'g.example.com/v2',
    kind: 'Box',
    metadata: { name: 'box', namespace: 'default', uid: 'u', resourceVersion: String(version) },
    status: { phase: status },
  }) as unknown as KubeObject

/** A world in which the operator writes the status, right after the write of the oracle. `stored` has the object by resource version. */
function worldWith(stored: ReadonlyMap<string, KubeObject>): {
  readonly world: World
  readonly violations: string[]
  readonly methods: string[]
} {
  const violations: string[] = []
  const methods: string[] = []
  let newest = boxAt(1, 'Old')
  const request = async (method: string, path: string): Promise<{ status: number; object: unknown }> => {
    methods.push(method)
    const version = /resourceVersion=(\d+)&resourceVersionMatch=Exact/.exec(path)?.[1]
    if (version !== undefined) return { status: 200, object: { items: [stored.get(version)] } }
    if (method === 'PUT') {
      newest = [...stored.values()].at(-1)!
      return { status: 200, object: boxAt(2, 'Old') }
    }
    return { status: 200, object: path.includes('/v1/') ? boxAt(1, 'Old') : newest }
  }
  const world = {
    drive: (promise: Promise<unknown>) => promise,
    user: { request },
    history: { violate: (_: string, message: string) => violations.push(message) },
    setup: { operator: { conversions: [{ hub, spokes: [{ kind: spoke }] }] }, ignore: [], passedForms: new Set() },
  }
  return { world: world as unknown as World, violations, methods }
}

test('checkConversions() ignores a write of the operator that happens meanwhile', async () => {
  const versions: [string, KubeObject][] = [
    ['1', boxAt(1, 'Old')],
    ['2', boxAt(2, 'Old')],
    ['3', boxAt(3, 'New')],
  ]
  const { world, violations } = worldWith(new Map(versions))
  await checkConversions(world, [boxAt(1, 'Old')])
  expect(violations).toEqual([])
})

test('checkConversions() reports a value that the conversion has changed', async () => {
  const versions: [string, KubeObject][] = [
    ['1', boxAt(1, 'Old')],
    ['2', boxAt(2, 'Lost')],
    ['3', boxAt(3, 'New')],
  ]
  const { world, violations } = worldWith(new Map(versions))
  await checkConversions(world, [boxAt(1, 'Old')])
  expect(violations).toEqual([
    'The conversion to v1 and back changes Box default/box: status.phase is "Lost", expected "Old"',
  ])
})

test('checkConversions() checks each form of an object once', async () => {
  const versions: [string, KubeObject][] = [
    ['1', boxAt(1, 'Old')],
    ['2', boxAt(2, 'Old')],
  ]
  const { world, methods } = worldWith(new Map(versions))
  const checks = (): number => methods.filter((method) => method === 'PUT').length
  await checkConversions(world, [boxAt(1, 'Old')])
  await checkConversions(world, [boxAt(7, 'Old')])
  expect(checks()).toBe(1)
  await checkConversions(world, [boxAt(8, 'New')])
  expect(checks()).toBe(2)
})
