import { defineResource, type KubeObject } from '@kubewright/api'
import { s } from '@kubewright/schema'
import { expect, test } from 'vitest'
import type { EndedCluster } from '../define/observer.ts'
import type { ObservedRun } from '../world/world.ts'
import { conversion } from './conversion.ts'

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

/** A cluster in which the operator writes the status, right after the write of the oracle. `stored` has the object by resource version. */
function clusterWith(stored: ReadonlyMap<string, KubeObject>): {
  readonly check: (objects: readonly KubeObject[]) => Promise<void>
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
  const definition = { conversions: [{ hub, spokes: [{ kind: spoke }] }] }
  const observed = { setup: { operator: { definition }, ignore: [] } } as unknown as ObservedRun
  const check = async (objects: readonly KubeObject[]): Promise<void> => {
    const { ended } = conversion.observe(observed, (message) => violations.push(message))
    await ended?.({ objects, request } as unknown as EndedCluster)
  }
  return { check, violations, methods }
}

test('conversion ignores a write of the operator that happens meanwhile', async () => {
  const versions: [string, KubeObject][] = [
    ['1', boxAt(1, 'Old')],
    ['2', boxAt(2, 'Old')],
    ['3', boxAt(3, 'New')],
  ]
  const { check, violations } = clusterWith(new Map(versions))
  await check([boxAt(1, 'Old')])
  expect(violations).toEqual([])
})

test('conversion reports a value that the conversion has changed', async () => {
  const versions: [string, KubeObject][] = [
    ['1', boxAt(1, 'Old')],
    ['2', boxAt(2, 'Lost')],
    ['3', boxAt(3, 'New')],
  ]
  const { check, violations } = clusterWith(new Map(versions))
  await check([boxAt(1, 'Old')])
  expect(violations).toEqual([
    'The conversion to v1 and back changes Box default/box: status.phase is "Lost", expected "Old"',
  ])
})

test('conversion checks each form of an object once', async () => {
  const versions: [string, KubeObject][] = [
    ['1', boxAt(1, 'Old')],
    ['2', boxAt(2, 'Old')],
  ]
  const { check, methods } = clusterWith(new Map(versions))
  const checks = (): number => methods.filter((method) => method === 'PUT').length
  await check([boxAt(1, 'Old')])
  await check([boxAt(7, 'Old')])
  expect(checks()).toBe(1)
  await check([boxAt(8, 'New')])
  expect(checks()).toBe(2)
})
