import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startCoreServer } from '../../../testdata/core-server.ts'
import type { PlainAnswer, PlainServer } from '../../../testdata/plain-server.ts'
import { cellsOf } from '../../../testdata/strategy-harness.ts'
import { services } from './service.ts'

let server: PlainServer
beforeAll(async () => {
  server = await startCoreServer()
})
afterAll(() => server[Symbol.asyncDispose]())

const path = '/api/v1/namespaces/a/services'
const merge = { 'content-type': 'application/merge-patch+json' }
const create = (name: string, spec: object, query = ''): Promise<PlainAnswer> =>
  server.send(`POST ${path}${query}`, { body: { metadata: { name }, spec } })
const patch = (name: string, spec: object): Promise<PlainAnswer> =>
  server.send(`PATCH ${path}/${name}`, { body: { spec }, headers: merge })
const port = { port: 80 }

function problem({ body }: PlainAnswer): string {
  return String(body.message).replace(/^\S+ "\S*" is invalid: /, '')
}

describe('cluster IPs of a Service', () => {
  test('are allocated, kept by updates and released by deletion', async () => {
    const { clusterIP } = (await create('a', { ports: [port] })).body.spec
    expect(clusterIP).toMatch(/^10\.0\.0\.\d+$/)
    expect((await patch('a', { ports: [{ port: 81 }] })).body.spec.clusterIP).toBe(clusterIP)
    expect(problem(await create('b', { clusterIP, ports: [port] }))).toBe(
      `spec.clusterIPs: Invalid value: ["${clusterIP}"]: failed to allocate IP ${clusterIP}: provided IP is already allocated`,
    )
    await server.send(`DELETE ${path}/a`)
    expect((await create('b', { clusterIP, ports: [port] })).status).toBe(201)
  })

  test('are not reserved by dry runs and failed creates', async () => {
    const spec = { clusterIP: '10.0.0.77', ports: [port] }
    expect((await create('dry', spec, '?dryRun=All')).status).toBe(201)
    expect((await create('bad', { ...spec, ports: [{ port: 0 }] })).status).toBe(422)
    expect((await create('good', spec)).status).toBe(201)
  })

  test('are placeholders in dry runs, like node ports, and are checked against the address range only', async () => {
    const dry = '?dryRun=All'
    expect((await create('dry', { ports: [port] }, dry)).body.spec.clusterIP).toBe('10.0.0.0')
    const ports = [
      { name: 'a', port: 80, nodePort: 100 },
      { name: 'b', port: 81 },
    ]
    expect((await create('dry', { type: 'NodePort', ports }, dry)).body.spec.ports).toMatchObject([
      { nodePort: 100 },
      { nodePort: 101 },
    ])
    const [first] = (await create('dry', { type: 'NodePort', ports: [port] }, dry)).body.spec.ports
    expect(first.nodePort).toBe(32_769)
    expect(problem(await create('dry', { clusterIP: '1.2.3.4', ports: [port] }, dry))).toContain(
      'the provided IP (1.2.3.4) is not in the valid range. The range of valid IPs is 10.0.0.0/24',
    )
  })

  test('are immutable', async () => {
    await create('fixed', { clusterIP: '10.0.0.78', ports: [port] })
    expect(problem(await patch('fixed', { clusterIP: '10.0.0.79', clusterIPs: ['10.0.0.79'] }))).toBe(
      'spec.clusterIPs[0]: Invalid value: ["10.0.0.79"]: may not change once set',
    )
  })

  test.each([
    [
      { clusterIP: '1.2.3.4', ports: [port] },
      'spec.clusterIPs: Invalid value: ["1.2.3.4"]: failed to allocate IP 1.2.3.4: the provided network does not match the current range',
    ],
    [
      { clusterIPs: ['10.0.0.9'], ports: [port] },
      'spec.clusterIPs: Invalid value: ["10.0.0.9"]: must be empty when `clusterIP` is not specified',
    ],
    [
      { ipFamilyPolicy: 'RequireDualStack', ports: [port] },
      'spec.ipFamilyPolicy: Invalid value: "RequireDualStack": this cluster is not configured for dual-stack services',
    ],
    [
      { ipFamilies: ['IPv6'], ports: [port] },
      'spec.ipFamilies[0]: Invalid value: "IPv6": not configured on this cluster',
    ],
    [
      { clusterIP: '2001:db8::1', ports: [port] },
      'spec.clusterIPs[0]: Invalid value: ["2001:db8::1"]: IPv6 is not configured on this cluster',
    ],
  ])('reject %j', async (spec, text) => {
    expect(problem(await create('rejected', spec))).toBe(text)
  })

  test('are None for headless Services; a headless Service without a selector has both IP families', async () => {
    expect((await create('headless', { clusterIP: 'None' })).body.spec).toMatchObject({
      clusterIPs: ['None'],
      ipFamilies: ['IPv4', 'IPv6'],
      ipFamilyPolicy: 'RequireDualStack',
    })
    expect((await create('selecting', { clusterIP: 'None', selector: { a: 'b' } })).body.spec).toMatchObject({
      ipFamilies: ['IPv4'],
      ipFamilyPolicy: 'SingleStack',
    })
  })

  test('are released by a change to ExternalName and allocated again by a change back', async () => {
    await create('name', { ports: [port] })
    const { body } = await patch('name', { type: 'ExternalName', externalName: 'a.b' })
    for (const field of ['clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy', 'internalTrafficPolicy']) {
      expect(body.spec).not.toHaveProperty(field)
    }
    expect((await patch('name', { type: 'ClusterIP' })).body.spec.clusterIP).toMatch(/^10\.0\.0\./)
  })
})

describe('node ports of a Service', () => {
  test('are allocated, shared between protocols, kept for the same port name, and released when the type changes', async () => {
    const ports = [
      { name: 'a', port: 53 },
      { name: 'b', port: 53, protocol: 'UDP' },
    ]
    const { body } = await create('dns', { type: 'NodePort', ports })
    const { nodePort } = body.spec.ports[0]
    expect(nodePort).toBeGreaterThanOrEqual(30_000)
    expect(body.spec.ports[1].nodePort).toBe(nodePort)
    const kept = await patch('dns', { ports: [{ name: 'a', port: 54 }] })
    expect(kept.body.spec.ports).toMatchObject([{ name: 'a', port: 54, nodePort }])
    expect((await patch('dns', { type: 'ClusterIP' })).body.spec.ports[0]).not.toHaveProperty('nodePort')
    expect((await create('again', { type: 'NodePort', ports: [{ port: 1, nodePort }] })).status).toBe(201)
    expect(problem(await create('third', { type: 'NodePort', ports: [{ port: 1, nodePort }] }))).toBe(
      `spec.ports[0].nodePort: Invalid value: ${nodePort}: provided port is already allocated`,
    )
  })

  test('must be in the node port range', async () => {
    expect(problem(await create('low', { type: 'NodePort', ports: [{ port: 1, nodePort: 80 }] }))).toBe(
      'spec.ports[0].nodePort: Invalid value: 80: provided port is not in the valid range. The range of valid ports is 30000-32767',
    )
  })

  test('include a health check port for load balancers with local traffic policy', async () => {
    const spec = { type: 'LoadBalancer', externalTrafficPolicy: 'Local', ports: [port] }
    const { healthCheckNodePort } = (await create('lb', spec)).body.spec
    expect(healthCheckNodePort).toBeGreaterThanOrEqual(30_000)
    expect(problem(await patch('lb', { healthCheckNodePort: 30_001 }))).toBe(
      'spec.healthCheckNodePort: Forbidden: field is immutable',
    )
  })
})

test('Services accept a load balancer status only with type LoadBalancer', async () => {
  await create('plain', { ports: [port] })
  const status = { loadBalancer: { ingress: [{ ip: '1.2.3.4' }] } }
  const answer = await server.send(`PATCH ${path}/plain/status`, { body: { status }, headers: merge })
  expect(problem(answer)).toBe(
    "status.loadBalancer.ingress: Forbidden: may only be used when `spec.type` is 'LoadBalancer'",
  )
})

describe('Services', () => {
  test.each<[string, { spec: object }, string]>([
    [
      'unknown session affinities',
      { spec: { ports: [{ port: 80 }], sessionAffinity: 'X' } },
      'spec.sessionAffinity: Unsupported value: "X": supported values: "ClientIP", "None"',
    ],
    ['a missing external name', { spec: { type: 'ExternalName' } }, 'spec.externalName: Required value'],
    [
      'node ports of the type ClusterIP',
      { spec: { ports: [{ port: 80, nodePort: 30000 }] } },
      "spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'",
    ],
    [
      'headless services of the type NodePort',
      { spec: { type: 'NodePort', clusterIP: 'None', ports: [{ port: 80 }] } },
      'spec.clusterIPs[0]: Invalid value: "None": may not be set to \'None\' for NodePort services',
    ],
  ])('reject %s', async (_, { spec }, text) => {
    const answer = await create('x', spec, '?dryRun=All')
    expect(answer.status).toBe(422)
    expect(problem(answer)).toBe(text)
  })

  test('list node ports and external addresses in table columns', () => {
    expect(
      cellsOf(services, {
        spec: {
          type: 'NodePort',
          clusterIPs: ['10.0.0.1', 'fd00::1'],
          ports: [
            { port: 80, protocol: 'TCP', nodePort: 30080 },
            { port: 53, protocol: 'UDP' },
          ],
          externalIPs: ['1.2.3.4', '5.6.7.8'],
          selector: { b: '2', a: '1' },
        },
      }),
    ).toEqual(['x', 'NodePort', '10.0.0.1', '1.2.3.4,5.6.7.8', '80:30080/TCP,53/UDP', '60m', 'a=1,b=2'])
  })

  test('list the external name in a table column', () => {
    expect(cellsOf(services, { spec: { type: 'ExternalName', externalName: 'example.com' } })).toEqual([
      'x',
      'ExternalName',
      '<none>',
      'example.com',
      '<none>',
      '60m',
      '<none>',
    ])
  })

  test('list <pending> for a load balancer without an address', () => {
    expect(cellsOf(services, { spec: { type: 'LoadBalancer', clusterIP: 'None' } })).toEqual([
      'x',
      'LoadBalancer',
      'None',
      '<pending>',
      '<none>',
      '60m',
      '<none>',
    ])
  })

  test('list the address of a load balancer in a table column', () => {
    expect(
      cellsOf(services, {
        spec: { type: 'LoadBalancer', clusterIPs: ['10.0.0.1'], externalIPs: ['9.9.9.9'] },
        status: { loadBalancer: { ingress: [{ hostname: 'a-very-long-name.example.com' }] } },
      }),
    ).toEqual(['x', 'LoadBalancer', '10.0.0.1', 'a-very-long-name.example.com,9.9.9.9', '<none>', '60m', '<none>'])
  })
})
