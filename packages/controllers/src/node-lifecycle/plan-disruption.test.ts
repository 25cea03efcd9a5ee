import type { Node } from '@kubewright/k8s'
import { expect, test } from 'vitest'
import { ZoneCensus, zoneOf } from './plan-disruption.ts'

function nodes(ready: number, lost: number, zone: string, labels: Readonly<Record<string, string>> = {}): Node[] {
  return Array.from({ length: ready + lost }, (_, index) => ({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name: `${zone}-${index}-${Object.keys(labels).length}`,
      labels: { 'topology.kubernetes.io/zone': zone, ...labels },
    },
    status: { conditions: [{ type: 'Ready', status: index < ready ? 'True' : 'Unknown' }] },
  })) as unknown as Node[]
}
function paceOf(list: readonly Node[]): number | undefined {
  const census = new ZoneCensus()
  for (const node of list) census.see(node)
  return census.evictionPace(zoneOf(list[0] as Node))
}

test('ZoneCensus.evictionPace() stops evictions when no node of the cluster is ready', () => {
  expect(paceOf(nodes(0, 1, 'a'))).toBeUndefined()
  expect(paceOf([...nodes(0, 3, 'a'), ...nodes(0, 3, 'b')])).toBeUndefined()
})

test('ZoneCensus.evictionPace() is one node in 10 seconds when few nodes of a zone are lost, or all of them', () => {
  expect(paceOf(nodes(1, 2, 'a'))).toBe(10_000)
  expect(paceOf(nodes(5, 5, 'a'))).toBe(10_000)
  expect(paceOf([...nodes(0, 3, 'a'), ...nodes(1, 0, 'b')])).toBe(10_000)
})

test('ZoneCensus.evictionPace() holds evictions of a small zone with many lost nodes, and slows those of a large one', () => {
  expect(paceOf(nodes(2, 3, 'a'))).toBe(Number.POSITIVE_INFINITY)
  expect(paceOf(nodes(20, 31, 'a'))).toBe(100_000)
})

test('ZoneCensus.evictionPace() ignores nodes that are excluded from disruption checks', () => {
  const aside = nodes(1, 0, 'a', { 'node.kubernetes.io/exclude-disruption': '' })
  expect(paceOf([...nodes(0, 1, 'a'), ...aside])).toBeUndefined()
})

test('ZoneCensus counts a node once, however often it is seen, and not after it was forgotten', () => {
  const census = new ZoneCensus()
  const [node] = nodes(1, 0, 'a')
  for (let i = 0; i < 3; i++) census.see(node as Node)
  for (const lost of nodes(0, 1, 'b')) census.see(lost)
  expect(census.notReady()).toEqual(['b-0-0'])
  expect(census.evictionPace(zoneOf(node as Node))).toBe(10_000)
  census.forget((node as Node).metadata.name)
  expect(census.evictionPace('b')).toBeUndefined()
})
