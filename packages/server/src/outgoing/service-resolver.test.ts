import { seededRandom } from '@kubewright/base'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ObjectLookup } from '../registry/object-lookup.ts'
import { PlainServer } from '../testdata/plain-server.ts'
import { endpointResolver, type ServiceResolver } from './service-resolver.ts'

let server: PlainServer
let resolve: ServiceResolver
beforeAll(async () => {
  server = await PlainServer.start()
  resolve = endpointResolver(new ObjectLookup(server.server.parts), seededRandom(1))
  const ports = [{ name: 'https', port: 443 }]
  await service('both', { type: 'ClusterIP', ports, ipFamilies: ['IPv6', 'IPv4'] })
  await slice('both', 'IPv4', [{ addresses: ['10.0.0.1'] }])
  await slice('both', 'IPv6', [{ addresses: ['fd00::1'] }, { addresses: ['fd00::2'], conditions: { ready: false } }])
  await service('starting', { type: 'ClusterIP', ports, ipFamilies: ['IPv4'] })
  await slice('starting', 'IPv4', [{ addresses: ['10.0.0.2'], conditions: { ready: false } }])
  await service('empty', { type: 'ClusterIP', ports })
  await service('here', { type: 'ExternalName', externalName: 'localhost' })
  await service('port', { ports }, '9443')
  await service('address', { ports }, '[::1]:9444')
  await service('elsewhere', { ports }, '10.0.0.1:9443')
  const { feed, store } = server.server.parts.registry
  await feed.reached(await store.revision())
})
afterAll(() => server[Symbol.asyncDispose]())

async function service(name: string, spec: object, local?: string): Promise<void> {
  const metadata = { name, ...(local === undefined ? {} : { annotations: { 'kubewright.dev/local-address': local } }) }
  await server.send('POST /api/v1/namespaces/n/services', { body: { metadata, spec } })
}

async function slice(name: string, addressType: string, endpoints: object[]): Promise<void> {
  const labels = { 'kubernetes.io/service-name': name }
  const metadata = { name: `${name}-${addressType.toLowerCase()}`, labels }
  const ports = [
    { name: 'other', port: 1 },
    { name: 'https', port: 8443 },
  ]
  await server.send('POST /apis/discovery.k8s.io/v1/namespaces/n/endpointslices', {
    body: { metadata, addressType, endpoints, ports },
  })
}

describe('endpointResolver()', () => {
  test('resolves to a ready endpoint of the preferred IP family and its port', async () => {
    expect(await resolve('n', 'both', 443)).toEqual({ host: 'fd00::1', port: 8443 })
  })

  test('resolves ExternalName services to their name', async () => {
    expect(await resolve('n', 'here', 9443)).toEqual({ host: 'localhost', port: 9443 })
  })

  test('resolves services with the annotation to a program on this machine', async () => {
    expect(await resolve('n', 'port', 443)).toEqual({ host: '127.0.0.1', port: 9443 })
    expect(await resolve('n', 'address', 443)).toEqual({ host: '::1', port: 9444 })
  })

  test.each([
    ['elsewhere', 443, 'invalid annotation kubewright.dev/local-address: use a port, or a loopback address and a port'],
    ['nosuch', 443, 'service "nosuch" not found'],
    ['both', 80, 'no service port 80 found for service "both"'],
    ['starting', 443, 'no endpoints available for service "starting"'],
    ['empty', 443, 'no endpoints available for service "empty"'],
  ])('rejects with the reason for %s:%i', async (name, port, message) => {
    await expect(resolve('n', name, port)).rejects.toThrow(message)
  })
})
