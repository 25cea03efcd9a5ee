// Invalid objects of the core kinds, sent through the complete request path.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startCoreServer } from '../../testdata/core-server.ts'
import type { PlainAnswer, PlainServer } from '../../testdata/plain-server.ts'

let server: PlainServer
beforeAll(async () => {
  server = await startCoreServer()
})
afterAll(() => server[Symbol.asyncDispose]())

const ns = '/api/v1/namespaces/a'
const container = { name: 'c', image: 'nginx:1.25' }
const named = (name: string, more: object = {}): object => ({ metadata: { name }, ...more })
const create = (path: string, body: unknown): Promise<PlainAnswer> => server.send(`POST ${path}`, { body })

/** The part of the message after `Kind "name" is invalid: `. */
function problem({ body }: PlainAnswer): string {
  return String(body.message).replace(/^\S+ "\S*" is invalid: /, '')
}

describe('create responds with 422', () => {
  test.each<[string, object, string]>([
    [
      'configmaps',
      { data: { 'a/b': 'x' } },
      "data[a/b]: Invalid value: \"a/b\": a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')",
    ],
    [
      'configmaps',
      { data: { a: 'x' }, binaryData: { a: 'eA==' } },
      'data[a]: Invalid value: "a": duplicate of key present in binaryData',
    ],
    ['configmaps', { data: { a: 'x'.repeat(1024 * 1024 + 1) } }, '[]: Too long: may not be more than 1048576 bytes'],
    ['secrets', { type: 'kubernetes.io/dockerconfigjson' }, 'data[.dockerconfigjson]: Required value'],
    [
      'secrets',
      { type: 'kubernetes.io/dockercfg', stringData: { '.dockercfg': '[]' } },
      'data[.dockercfg]: Invalid value: "<secret contents redacted>": json: cannot unmarshal array into Go value of type map[string]interface {}',
    ],
    [
      'secrets',
      { type: 'kubernetes.io/basic-auth' },
      '[data[username]: Required value, data[password]: Required value]',
    ],
    ['secrets', { type: 'kubernetes.io/ssh-auth' }, 'data[ssh-privatekey]: Required value'],
    [
      'secrets',
      { type: 'kubernetes.io/service-account-token' },
      'metadata.annotations[kubernetes.io/service-account.name]: Required value',
    ],
    [
      'endpoints',
      { subsets: [{ ports: [{ port: 1 }] }] },
      'subsets[0]: Required value: must specify `addresses` or `notReadyAddresses`',
    ],
    [
      'endpoints',
      { subsets: [{ addresses: [{ ip: '169.254.0.1' }] }] },
      'subsets[0].addresses[0].ip: Invalid value: "169.254.0.1": may not be in the link-local range (169.254.0.0/16, fe80::/10)',
    ],
    [
      'limitranges',
      { spec: { limits: [{ type: 'Pod', default: { cpu: '1' } }] } },
      "spec.limits[0].default: Forbidden: may not be specified when `type` is 'Pod'",
    ],
    [
      'limitranges',
      { spec: { limits: [{ type: 'PersistentVolumeClaim' }] } },
      'spec.limits[0].limits: Required value: either minimum or maximum storage value is required, but neither was provided',
    ],
    [
      'resourcequotas',
      { spec: { hard: { nonsense: '1' } } },
      '[spec.hard[nonsense]: Invalid value: "nonsense": must be a standard resource type or fully qualified, spec.hard[nonsense]: Invalid value: "nonsense": must be a standard resource for quota]',
    ],
    [
      'resourcequotas',
      { spec: { hard: { pods: '1.5' } } },
      'spec.hard[pods]: Invalid value: "1500m": must be an integer',
    ],
    [
      'persistentvolumeclaims',
      { spec: { accessModes: ['ReadWriteOncePod', 'ReadWriteOnce'], resources: { requests: { storage: '0' } } } },
      '[spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes, spec.resources[storage]: Invalid value: "0": must be greater than zero]',
    ],
    [
      'replicationcontrollers',
      { spec: { replicas: -1, selector: { a: 'b' } } },
      '[spec.replicas: Invalid value: -1: must be greater than or equal to 0, spec.template: Required value]',
    ],
    ['podtemplates', {}, 'template.spec.containers: Required value'],
    [
      'events',
      { involvedObject: { namespace: 'b' } },
      'involvedObject.namespace: Invalid value: "b": does not match event.namespace',
    ],
    [
      'services',
      { spec: { ports: [{ port: 80 }], sessionAffinity: 'X' } },
      'spec.sessionAffinity: Unsupported value: "X": supported values: "ClientIP", "None"',
    ],
    ['services', { spec: { type: 'ExternalName' } }, 'spec.externalName: Required value'],
    [
      'services',
      { spec: { ports: [{ port: 80, nodePort: 30000 }] } },
      "spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'",
    ],
    [
      'services',
      { spec: { type: 'NodePort', clusterIP: 'None', ports: [{ port: 80 }] } },
      'spec.clusterIPs[0]: Invalid value: "None": may not be set to \'None\' for NodePort services',
    ],
    [
      'pods',
      { spec: { containers: [container], ephemeralContainers: [{ name: 'e', image: 'i' }] } },
      'spec.ephemeralContainers: Forbidden: cannot be set on create',
    ],
    [
      'pods',
      { spec: { containers: [container], nodeName: 'n', schedulingGates: [{ name: 'g' }] } },
      'spec.nodeName: Forbidden: cannot be set until all schedulingGates have been cleared',
    ],
  ])('for %s %j', async (plural, body, text) => {
    const answer = await create(`${ns}/${plural}?dryRun=All`, named('x', body))
    expect(answer.status).toBe(422)
    expect(problem(answer)).toBe(text)
  })

  test.each<[string, object, string]>([
    [
      'persistentvolumes',
      { spec: {} },
      '[spec.accessModes: Required value, spec.capacity: Required value, spec.capacity: Unsupported value: null: supported values: "storage", spec: Required value: must specify a volume type]',
    ],
    [
      'persistentvolumes',
      { spec: { accessModes: ['ReadWriteOnce'], capacity: { storage: '1' }, local: { path: '/x' } } },
      'spec.nodeAffinity: Required value: Local volume requires node affinity',
    ],
    ['nodes', { spec: { taints: [{ key: 'k' }] } }, 'metadata.taints[0].effect: Required value'],
    [
      'nodes',
      { spec: { podCIDRs: ['x'] } },
      'spec.podCIDRs[0]: Invalid value: "x": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)',
    ],
    [
      'namespaces',
      { spec: { finalizers: ['x'] } },
      'spec.finalizers: Invalid value: "x": name is neither a standard finalizer name nor is it fully qualified',
    ],
  ])('for the cluster-scoped %s %j', async (plural, body, text) => {
    const answer = await create(`/api/v1/${plural}?dryRun=All`, named('x', body))
    expect(answer.status).toBe(422)
    expect(problem(answer)).toBe(text)
  })
})
