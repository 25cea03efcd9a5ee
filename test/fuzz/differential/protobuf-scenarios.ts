// Scenarios about protobuf bodies: valid ones, damaged ones, and envelopes that do not fit their object.

import type { Random } from '@kubewright/base'
import { encodeProtobuf } from '../../../packages/server/src/codec/protobuf/envelope.ts'
import { defaultServedRelease } from '../../../packages/server/src/codec/served-release.ts'
import type { RequestSpec } from '../../conformance/case-format.ts'
import { chance, mutateBytes } from '../mutate.ts'
import type { Scenario } from './scenario.ts'

type Json = Record<string, unknown>

const protobuf = 'application/vnd.kubernetes.protobuf'

const samples: readonly (readonly [string, Json])[] = [
  [
    '/api/v1/namespaces/{ns}/configmaps',
    { apiVersion: 'v1', kind: 'ConfigMap', data: { a: 'b', c: '' }, binaryData: { d: 'AQI=' } },
  ],
  ['/api/v1/namespaces/{ns}/secrets', { apiVersion: 'v1', kind: 'Secret', data: { a: 'AQID' }, immutable: true }],
  [
    '/api/v1/namespaces/{ns}/pods',
    {
      apiVersion: 'v1',
      kind: 'Pod',
      spec: {
        containers: [
          {
            name: 'c',
            image: 'i',
            ports: [{ containerPort: 80 }],
            resources: { requests: { cpu: '100m', memory: '1Gi' } },
            livenessProbe: { httpGet: { port: 'http', path: '/' } },
            env: [{ name: 'A', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }],
          },
        ],
        nodeSelector: { a: 'b' },
        tolerations: [{ key: 'k', operator: 'Exists', tolerationSeconds: 5 }],
      },
    },
  ],
  [
    '/api/v1/namespaces/{ns}/services',
    {
      apiVersion: 'v1',
      kind: 'Service',
      spec: { clusterIP: 'None', selector: { a: 'b' }, ports: [{ port: 80, targetPort: 'x' }] },
    },
  ],
  [
    '/apis/apps/v1/namespaces/{ns}/deployments',
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      spec: {
        replicas: 2,
        selector: { matchLabels: { a: 'b' } },
        strategy: { rollingUpdate: { maxSurge: '50%', maxUnavailable: 1 } },
        template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
      },
    },
  ],
  [
    '/apis/coordination.k8s.io/v1/namespaces/{ns}/leases',
    {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      spec: { holderIdentity: 'h', renewTime: '2020-01-01T00:00:00.000001Z', leaseTransitions: 3 },
    },
  ],
  [
    '/apis/rbac.authorization.k8s.io/v1/namespaces/{ns}/roles',
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'Role',
      rules: [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }],
    },
  ],
]

/** Messages that a decoder may handle wrongly, each appended to the fields of the envelope. */
const extraFields: readonly (readonly number[])[] = [
  [0x1a, 0x04, 0x67, 0x7a, 0x69, 0x70],
  [0x22, 0x10, ...Buffer.from('application/json')],
  [0x28, 0x01],
  [0x0a, 0x00],
  [0x12, 0x00],
  [0x12, 0x7f],
  [0x0b],
  [0x0c],
  [0x00],
  [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01],
  [0x12, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01],
  [0x3d, 0x01, 0x02, 0x03, 0x04],
  [0x39, 0x01],
]

function damaged(random: Random, bytes: Buffer): Buffer {
  switch (random.int(8)) {
    case 0:
      return bytes.subarray(0, random.int(bytes.length + 1))
    case 1:
      return Buffer.concat([bytes, Buffer.from(random.pick(extraFields))])
    case 2:
      return Buffer.concat([bytes, bytes.subarray(4)])
    case 3:
      return random.pick([
        Buffer.alloc(0),
        Buffer.from('k8s\0'),
        Buffer.from('{}'),
        bytes.subarray(4),
        Buffer.from('k8s\x01x'),
      ])
    case 4: {
      const changed = Buffer.from(bytes)
      changed[4 + random.int(bytes.length - 4)] = random.pick([0, 1, 0x7f, 0x80, 0xff, 0x0a])
      return changed
    }
    case 5: {
      const at = 4 + random.int(bytes.length - 4)
      return Buffer.concat([bytes.subarray(0, at), Buffer.from(random.pick(extraFields)), bytes.subarray(at)])
    }
    case 6:
      return mutateBytes(random, bytes)
    default:
      return bytes
  }
}

/** Objects that are created, updated and deleted by protobuf bodies, most of them damaged. Responses are JSON. */
export function protobufScenario(random: Random, id: string): Scenario {
  const namespace = `diff-${id}`
  const [place, sample] = random.pick(samples)
  const collection = place.replace('{ns}', namespace)
  const path = `${collection}/o`
  const encoded = (changes: Json = {}): Buffer =>
    encodeProtobuf(defaultServedRelease, {
      ...sample,
      metadata: { name: 'o', namespace, labels: { l: 'm' } },
      ...changes,
    })
  const body = (bytes: Buffer): Json => ({ $base64: bytes.toString('base64') })
  const wrongKind = (): Buffer => {
    const [, other] = random.pick(samples)
    return encodeProtobuf(defaultServedRelease, { ...other, metadata: { name: 'o', namespace } })
  }
  const headers = { 'content-type': chance(random, 0.05) ? `${protobuf};type=x` : protobuf }
  const requests: RequestSpec[] = []
  for (let left = 6; left > 0; left--) {
    const bytes = chance(random, 0.15) ? wrongKind() : damaged(random, encoded())
    switch (random.int(6)) {
      case 0:
        requests.push({ method: 'PUT', path, headers, body: body(bytes) })
        break
      case 1: {
        const options = encodeProtobuf(defaultServedRelease, {
          apiVersion: 'v1',
          kind: 'DeleteOptions',
          propagationPolicy: 'Background',
        })
        requests.push({
          method: 'DELETE',
          path,
          headers,
          body: body(chance(random, 0.5) ? damaged(random, options) : options),
        })
        break
      }
      case 2:
        requests.push({ method: 'PATCH', path, headers, body: body(bytes) })
        break
      default:
        requests.push({
          method: 'POST',
          path: collection,
          headers,
          query: chance(random, 0.5) ? { fieldValidation: random.pick(['Strict', 'Warn', 'Ignore']) } : {},
          body: body(bytes),
        })
    }
  }
  return { kind: 'protobuf', namespace, requests }
}
