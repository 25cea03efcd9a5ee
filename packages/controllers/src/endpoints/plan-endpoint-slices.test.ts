import type { EndpointSlice, Node, Pod, Service } from '@kubewright/k8s'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { maxEndpointsPerSlice, planEndpointSlices, type SlicePlan } from './plan-endpoint-slices.ts'

// Contains only the fields that the planner reads.
const service = (spec: object = {}, metadata: object = {}): Service =>
  ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 's', namespace: 'n', uid: 'u', ...metadata },
    spec: {
      clusterIP: '10.0.0.9',
      ipFamilies: ['IPv4'],
      ports: [{ name: 'web', port: 80, targetPort: 'http' }],
      ...spec,
    },
  }) as unknown as Service
const pod = (
  at: number,
  { ready = true, port = 8080, gone = false, ips = [`10.0.${at >> 8}.${at & 255}`] } = {},
): Pod =>
  ({
    metadata: { name: `p${at}`, namespace: 'n', uid: `p${at}`, ...(gone ? { deletionTimestamp: 't' } : {}) },
    spec: { nodeName: 'node', containers: [{ name: 'c', ports: [{ name: 'http', containerPort: port }] }] },
    status: {
      phase: 'Running',
      podIP: ips[0],
      podIPs: ips.map((ip) => ({ ip })),
      conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }],
    },
  }) as unknown as Pod
const nodes = new Map([['node', { metadata: { name: 'node' } } as unknown as Node]])

let made = 0
/** The slices after the plan was carried out. */
function after(slices: readonly EndpointSlice[], plan: SlicePlan): EndpointSlice[] {
  const updated = new Map(plan.update.map((slice) => [slice.metadata.name, slice]))
  const kept = slices.filter((slice) => !plan.delete.includes(slice))
  const created = plan.create.map((draft) => {
    const metadata = { ...draft.metadata, name: `s-${made++}`, uid: String(made) }
    return { ...draft, metadata } as unknown as EndpointSlice
  })
  return [...kept.map((slice) => updated.get(slice.metadata.name) ?? slice), ...created]
}
const run = (pods: readonly Pod[], slices: readonly EndpointSlice[] = [], of: Service = service()) => {
  const plan = planEndpointSlices({ service: of, pods, nodes, slices })
  return { plan, slices: after(slices, plan) }
}
const shown = (slices: readonly EndpointSlice[]): string[] =>
  slices
    .flatMap(({ endpoints, ports, addressType }) =>
      endpoints.map(
        ({ addresses, conditions }) =>
          `${addressType} ${addresses.join()}:${ports?.map(({ port }) => port).join()} ${conditions?.ready}`,
      ),
    )
    .sort()

describe('planEndpointSlices()', () => {
  test('creates one empty slice for a service without pods', () => {
    const { slices } = run([])
    expect(slices).toMatchObject([{ addressType: 'IPv4', endpoints: [], ports: [] }])
    const again = run([], slices).plan
    expect([again.create, again.update, again.delete]).toEqual([[], [], []])
  })

  test('separates pods whose named ports differ', () => {
    const { slices } = run([pod(1), pod(2, { port: 9090 })])
    expect(slices.map(({ ports }) => ports?.[0]?.port).sort()).toEqual([8080, 9090])
  })

  test('separates address families, and deletes the slices of a removed family', () => {
    const both = service({ ipFamilies: ['IPv4', 'IPv6'] })
    const ips = ['10.0.0.1', 'fd00::1']
    const { slices } = run([pod(1, { ips })], [], both)
    expect(shown(slices)).toEqual(['IPv4 10.0.0.1:8080 true', 'IPv6 fd00::1:8080 true'])
    expect(shown(run([pod(1, { ips })], slices).slices)).toEqual(['IPv4 10.0.0.1:8080 true'])
  })

  test('replaces slices of an earlier service with the same name', () => {
    const { slices } = run([pod(1)], [], service({}, { uid: 'before' }))
    const { plan } = run([pod(1)], slices)
    expect([plan.create.length, plan.update.length, plan.delete.length]).toEqual([1, 0, 1])
  })

  test('copies the labels of the service, except reserved ones', () => {
    const { slices } = run([pod(1)])
    const labels = { team: 'a', 'kubernetes.io/service-name': 'x' }
    const labelled = run([pod(1)], slices, service({}, { labels }))
    expect(labelled.plan.update[0]?.metadata.labels).toMatchObject({ team: 'a', 'kubernetes.io/service-name': 's' })
  })

  test('skips pods of unknown nodes, unless publishNotReadyAddresses is set', () => {
    const facts = { pods: [pod(1)], nodes: new Map<string, Node>(), slices: [] }
    expect(planEndpointSlices({ ...facts, service: service() }).skipped).toHaveLength(1)
    const published = planEndpointSlices({ ...facts, service: service({ publishNotReadyAddresses: true }) })
    expect([published.skipped, published.create[0]?.endpoints?.length]).toEqual([[], 1])
  })

  test('adds a new pod to the slice with room and changes no other', () => {
    const pods = Array.from({ length: 150 }, (_, at) => pod(at))
    const { slices } = run(pods)
    expect(slices.map(({ endpoints }) => endpoints.length).sort()).toEqual([100, 50].sort())
    const { plan } = run([...pods, pod(200)], slices)
    expect([plan.create.length, plan.update.length, plan.delete.length]).toEqual([0, 1, 0])
    expect(plan.update[0]?.endpoints).toHaveLength(51)
  })

  test('lists each pod once, respects the size limit and converges for random pods', () => {
    const population = fc.uniqueArray(
      fc.record({ at: fc.nat(160), ready: fc.boolean(), port: fc.constantFrom(8080, 9090), gone: fc.boolean() }),
      { selector: ({ at }) => at, maxLength: 140 },
    )
    fc.assert(
      fc.property(fc.array(population, { minLength: 1, maxLength: 4 }), (generations) => {
        let slices: EndpointSlice[] = []
        for (const generation of generations) {
          const pods = generation.map(({ at, ...how }) => pod(at, how))
          slices = run(pods, slices).slices
          expect(shown(slices)).toEqual(
            generation
              .map(({ at, port, ready, gone }) => `IPv4 10.0.${at >> 8}.${at & 255}:${port} ${ready && !gone}`)
              .sort(),
          )
          expect(slices.length).toBeGreaterThan(0)
          expect(Math.max(...slices.map(({ endpoints }) => endpoints.length))).toBeLessThanOrEqual(maxEndpointsPerSlice)
          const again = run(pods, slices).plan
          expect([again.create, again.update, again.delete]).toEqual([[], [], []])
        }
      }),
      { numRuns: 60 },
    )
  })
})
