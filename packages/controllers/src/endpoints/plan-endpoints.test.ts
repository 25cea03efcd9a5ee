import type { Endpoints, Pod, Service } from '@kubewright/k8s'
import { describe, expect, test } from 'vitest'
import { targetPort } from './backends.ts'
import { maxAddresses, planEndpoints } from './plan-endpoints.ts'

const web = { name: 'web', port: 80, targetPort: 'http', protocol: 'TCP' }
const metrics = { name: 'metrics', port: 90, targetPort: 'metrics', protocol: 'TCP' }
// Contains only the fields that the planner reads.
const service = (spec: object = {}, metadata: object = {}): Service =>
  ({
    metadata: { name: 's', namespace: 'n', ...metadata },
    spec: { clusterIP: '10.0.0.9', ipFamilies: ['IPv4'], ports: [web], ...spec },
  }) as unknown as Service
const pod = (
  at: number,
  ports: readonly object[],
  { ready = true, ...more }: { ready?: boolean; [x: string]: unknown } = {},
): Pod =>
  ({
    metadata: { name: `p${at}`, namespace: 'n', uid: `u${at}` },
    spec: { nodeName: 'node', containers: [{ name: 'c', ports }], ...more },
    status: {
      podIP: `10.0.${at >> 8}.${at & 255}`,
      podIPs: [{ ip: `10.0.${at >> 8}.${at & 255}` }],
      conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }],
    },
  }) as unknown as Pod
const http = { name: 'http', containerPort: 8080 }
const prometheus = { name: 'metrics', containerPort: 9090 }
const subsets = (pods: readonly Pod[], of: Service = service()) =>
  planEndpoints(of, pods, undefined, undefined)?.subsets?.map(({ addresses, notReadyAddresses, ports }) => [
    addresses?.map(({ ip }) => ip).join() ?? '',
    notReadyAddresses?.map(({ ip }) => ip).join() ?? '',
    ports?.map(({ port }) => port).join() ?? '',
  ])

describe('planEndpoints()', () => {
  test('groups ports with the same addresses into one subset', () => {
    const both = service({ ports: [web, metrics] })
    const pods = [pod(2, [http, prometheus]), pod(1, [http, prometheus], { ready: false }), pod(3, [http])]
    expect(subsets(pods.slice(0, 2), both)).toEqual([['10.0.0.2', '10.0.0.1', '9090,8080']])
    expect(subsets(pods, both)).toEqual([
      ['10.0.0.2', '10.0.0.1', '9090'],
      ['10.0.0.2,10.0.0.3', '10.0.0.1', '8080'],
    ])
  })

  test('orders ports like kube-controller-manager v1.35.8', () => {
    const named = [
      { name: 'udp', port: 53, protocol: 'UDP' },
      { name: 'web', port: 80, targetPort: 8081, protocol: 'TCP' },
    ]
    const both = service({ ports: named })
    expect(subsets([pod(1, [])], both)).toEqual([['10.0.0.1', '', '8081,53']])
  })

  test('publishes addresses without ports only for headless services', () => {
    expect(subsets([pod(1, [])], service({ clusterIP: 'None', ports: [] }))).toEqual([['10.0.0.1', '', '']])
    expect(subsets([pod(1, [])], service({ ports: [] }))).toEqual([])
  })

  test('sets the hostname of pods in the subdomain of the service', () => {
    const named = pod(1, [http], { hostname: 'h', subdomain: 's' })
    expect(planEndpoints(service(), [named], undefined, undefined)?.subsets?.[0]?.addresses?.[0]?.hostname).toBe('h')
  })

  test('returns undefined when the content is unchanged, ignoring annotations', () => {
    const draft = planEndpoints(service(), [pod(1, [http])], undefined, '2025-01-01T00:00:00Z')
    const current = { ...draft, metadata: { ...draft?.metadata, resourceVersion: '1' } } as unknown as Endpoints
    expect(planEndpoints(service(), [pod(1, [http])], current, undefined)).toBeUndefined()
    const relabelled = service({}, { labels: { a: 'b' } })
    expect(planEndpoints(relabelled, [pod(1, [http])], current, undefined)?.metadata).toMatchObject({
      resourceVersion: '1',
      labels: { a: 'b' },
      annotations: {},
    })
  })

  test('truncates to 1000 addresses, keeps ready ones first and sets the over-capacity annotation', () => {
    const pods = Array.from({ length: 1100 }, (_, at) => pod(at, [http], { ready: at % 2 === 0 }))
    const draft = planEndpoints(service(), pods, undefined, undefined)
    const [subset] = draft?.subsets ?? []
    expect([subset?.addresses?.length, subset?.notReadyAddresses?.length]).toEqual([550, maxAddresses - 550])
    expect(draft?.metadata.annotations).toEqual({ 'endpoints.kubernetes.io/over-capacity': 'truncated' })
    const current = draft as unknown as Endpoints
    expect(planEndpoints(service(), pods, current, undefined)).toBeUndefined()
    const fewer = planEndpoints(service(), pods.slice(0, 10), current, undefined)
    expect(fewer?.metadata.annotations).toEqual({})
  })
})

describe('targetPort()', () => {
  test.each([
    ['a number', { port: 80, targetPort: 81 }, 81],
    ['nothing', { port: 80 }, 80],
    ['a name', { port: 80, targetPort: 'http' }, 8080],
    ['a name of another protocol', { port: 80, targetPort: 'http', protocol: 'UDP' }, undefined],
    ['a name of a sidecar', { port: 80, targetPort: 'side' }, 7070],
    ['a name of an init container', { port: 80, targetPort: 'init' }, undefined],
  ])('%s', (_, port, expected) => {
    const initContainers = [
      { name: 'i', ports: [{ name: 'init', containerPort: 1 }] },
      { name: 's', restartPolicy: 'Always', ports: [{ name: 'side', containerPort: 7070 }] },
    ]
    expect(targetPort(pod(1, [http], { initContainers }), port as never)).toBe(expected)
  })
})
