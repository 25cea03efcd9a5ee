import { RepeatedNull } from '@kubewright/api'
import { describe, expect, test } from 'vitest'
import { defaultServedRelease } from '../served-release.ts'
import { DecodeState, GoDecodeError } from './go-codec.ts'

/** The stored form of a value of the type. */
function stored(type: string, value: unknown): unknown {
  return defaultServedRelease.json.codec(type).decode(value, new DecodeState({ nulls: true }))
}

/** The error text of Go for a value: the first mismatch in document order. */
function problem(type: string, value: unknown, words: 'json' | 'map' = 'json'): string | undefined {
  const state = new DecodeState({ inOrder: true, words })
  try {
    defaultServedRelease.json.codec(type).decode(value, state)
  } catch (error) {
    if (error instanceof GoDecodeError) return error.message
    throw error
  }
  return state.mismatch
}

describe('defaultServedRelease.json.codec().decode()', () => {
  test.each([
    [
      'drops empty values that are not pointers',
      'core/v1.ConfigMap',
      { data: {}, metadata: { labels: {}, name: '' } },
      { metadata: {} },
    ],
    ['keeps what a pointer points to', 'core/v1.ConfigMap', { immutable: false }, { metadata: {}, immutable: false }],
    ['drops null', 'core/v1.ConfigMap', { immutable: null, data: null, metadata: null }, { metadata: {} }],
    [
      'writes structs and required fields',
      'core/v1.Event',
      {},
      {
        metadata: {},
        involvedObject: {},
        source: {},
        firstTimestamp: null,
        lastTimestamp: null,
        eventTime: null,
        reportingComponent: '',
        reportingInstance: '',
      },
    ],
    ['drops unknown fields', 'core/v1.ConfigMap', { nope: 1, data: { a: 'b' } }, { metadata: {}, data: { a: 'b' } }],
    ['sorts maps', 'core/v1.ConfigMap', { data: { b: '1', a: '2' } }, { metadata: {}, data: { a: '2', b: '1' } }],
    [
      'turns null values of maps into zero values',
      'core/v1.ConfigMap',
      { data: { a: null } },
      { metadata: {}, data: { a: '' } },
    ],
    [
      'prints quantities in their canonical form',
      'core/v1.ResourceRequirements',
      { limits: { cpu: '1000m', memory: 1024 } },
      { limits: { cpu: '1', memory: '1024' } },
    ],
    [
      'prints times in UTC and without fractions',
      'meta/v1.ObjectMeta',
      { deletionTimestamp: '2026-01-02T04:04:05.123+01:00' },
      { deletionTimestamp: '2026-01-02T03:04:05Z' },
    ],
    ['leaves out a zero creation time', 'meta/v1.ObjectMeta', { creationTimestamp: null }, {}],
    ['keeps raw values', 'meta/v1.ManagedFieldsEntry', { fieldsV1: { 'f:a': {} } }, { fieldsV1: { 'f:a': {} } }],
    [
      'fills defaults that belong to the type',
      'core/v1.ContainerPort',
      { containerPort: 80 },
      { containerPort: 80, protocol: 'TCP' },
    ],
    ['takes line breaks in base64', 'core/v1.Secret', { data: { a: 'Yg=\n=' } }, { metadata: {}, data: { a: 'Yg==' } }],
    ['flattens embedded structs', 'core/v1.Volume', { name: 'v', emptyDir: {} }, { name: 'v', emptyDir: {} }],
  ])('%s', (_, type, value, expected) => {
    const result = stored(type, value)
    expect(result).toEqual(expected)
    // The form is a fixed point: storing it again changes nothing, not even the order.
    expect(JSON.stringify(stored(type, result))).toBe(JSON.stringify(result))
  })

  test('omits nulls internally and distinguishes empty from absent lists', () => {
    const decode = (value: unknown): unknown =>
      defaultServedRelease.json.codec('rbac/v1.Role').decode(value, new DecodeState({ keepEmpty: true }))
    expect([decode({}), decode({ rules: [] }), decode({ rules: null })]).toEqual([
      { metadata: {} },
      { metadata: {}, rules: [] },
      { metadata: {} },
    ])
    expect(stored('rbac/v1.Role', { rules: [] })).toEqual({ metadata: {}, rules: null })
  })

  test('keeps empty lists in memory even where JSON omits them', () => {
    const value = { containers: [], nodeSelector: {}, resources: { claims: [] } }
    const decode = (state: DecodeState): unknown =>
      defaultServedRelease.json.codec('core/v1.PodSpec').decode(value, state)
    expect(decode(new DecodeState({ inMemory: true }))).toEqual({ containers: [], resources: { claims: [] } })
    expect(decode(new DecodeState({ keepEmpty: true }))).toEqual({ containers: [], resources: {} })
  })

  test('keeps the earlier value of a repeated field that cannot be null', () => {
    const value = { name: new RepeatedNull('a'), command: new RepeatedNull(['x']), tty: new RepeatedNull(true) }
    expect(
      defaultServedRelease.json
        .codec('core/v1.Container')
        .decode(value, new DecodeState({ inMemory: true, repeated: true })),
    ).toEqual({
      name: 'a',
      tty: true,
      resources: {},
    })
  })

  test('does not modify the prototype', () => {
    const value = JSON.parse('{"data":{"__proto__":"x"}}')
    const result = stored('core/v1.ConfigMap', value) as { data: object }
    expect(Object.entries(result.data)).toEqual([['__proto__', 'x']])
  })

  test.each([
    [
      'core/v1.ConfigMap',
      { data: 'x' },
      'json: cannot unmarshal string into Go struct field ConfigMap.data of type map[string]string',
    ],
    [
      'core/v1.ConfigMap',
      { data: { k: 1 } },
      'json: cannot unmarshal number into Go struct field ConfigMap.data of type string',
    ],
    [
      'core/v1.ConfigMap',
      { metadata: 'x' },
      'json: cannot unmarshal string into Go struct field ConfigMap.metadata of type v1.ObjectMeta',
    ],
    [
      'core/v1.ConfigMap',
      { kind: 1 },
      'json: cannot unmarshal number into Go struct field ConfigMap.TypeMeta.kind of type string',
    ],
    ['core/v1.Secret', { data: { k: '***' } }, 'illegal base64 data at input byte 0'],
    ['core/v1.Secret', { data: { k: 'YWJj=' } }, 'illegal base64 data at input byte 4'],
    [
      'apps/v1.Deployment',
      { spec: { replicas: 1.5 } },
      'json: cannot unmarshal number 1.5 into Go struct field DeploymentSpec.spec.replicas of type int32',
    ],
    [
      'apps/v1.Deployment',
      { spec: { replicas: 3e9 } },
      'json: cannot unmarshal number 3000000000 into Go struct field DeploymentSpec.spec.replicas of type int32',
    ],
    [
      'core/v1.Pod',
      { spec: { restartPolicy: 1, containers: {} } },
      'json: cannot unmarshal number into Go struct field PodSpec.spec.restartPolicy of type v1.RestartPolicy',
    ],
    [
      'core/v1.Pod',
      { spec: { containers: {}, restartPolicy: 1 } },
      'json: cannot unmarshal object into Go struct field PodSpec.spec.containers of type []v1.Container',
    ],
    [
      'core/v1.Pod',
      { spec: { volumes: [{ hostPath: 1 }] } },
      'json: cannot unmarshal number into Go struct field Volume.spec.volumes.VolumeSource.hostPath of type v1.HostPathVolumeSource',
    ],
    [
      'core/v1.Service',
      { spec: { ports: [{ targetPort: true }] } },
      'json: cannot unmarshal bool into Go struct field ServicePort.spec.ports.targetPort of type int32',
    ],
    [
      'meta/v1.ObjectMeta',
      { deletionTimestamp: 5 },
      'json: cannot unmarshal number into Go struct field ObjectMeta.deletionTimestamp of type string',
    ],
    [
      'meta/v1.ObjectMeta',
      { deletionTimestamp: 'x' },
      'parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"',
    ],
  ])('%s %j is rejected as in Go', (type, value, text) => {
    expect(problem(type, value)).toBe(text)
  })

  test('errors of types with their own decoder take precedence', () => {
    expect(problem('core/v1.Pod', { spec: { restartPolicy: 1 }, metadata: { deletionTimestamp: 'x' } })).toMatch(
      'parsing time',
    )
  })

  test.each([
    ['core/v1.ConfigMap', { data: 'x' }, 'cannot restore map from string'],
    ['core/v1.ConfigMap', { data: { k: 1 } }, 'cannot convert int64 to string'],
    ['core/v1.ConfigMap', { data: { k: true } }, 'unrecognized type: string'],
    ['core/v1.ConfigMap', { metadata: [] }, 'cannot restore struct from: slice'],
    ['core/v1.PodSpec', { containers: { name: 'a' } }, 'cannot restore slice from map'],
    ['apps/v1.DeploymentSpec', { replicas: 'x' }, 'unrecognized type: int32'],
  ])('%s %j from a map is rejected as by the converter', (type, value, text) => {
    expect(problem(type, value, 'map')).toBe(text)
  })
})

test('defaultServedRelease.json.codec() refuses an integer just below int64, although the nearest double is an int64', () => {
  const type = 'apps/v1.ControllerRevision'
  const text =
    'json: cannot unmarshal number -9223372036854776000 into Go struct field ControllerRevision.revision of type int64'
  expect(problem(type, { revision: -9_223_372_036_854_776_000 })).toBe(text)
  expect(problem(type, { revision: -(2 ** 62) })).toBeUndefined()
})

test('defaultServedRelease.json.codec().decode() returns a value that already has its form, and copies what it has not', () => {
  const decode = (value: unknown): unknown =>
    defaultServedRelease.json.codec('core/v1.Pod').decode(value, new DecodeState({ shares: true }))
  const port = { containerPort: 80, protocol: 'TCP' }
  const limits = { limits: { cpu: '100m', memory: '1Gi' } }
  const pod = {
    metadata: { name: 'a', labels: { a: '1', b: '2' } },
    spec: { containers: [{ name: 'a', ports: [port], resources: limits }] },
    status: { startTime: '2020-01-01T00:00:00Z' },
  }
  expect(decode(pod)).toBe(pod)
  const changes: readonly [unknown, unknown][] = [
    [{ limits: { memory: '1Gi', cpu: '100m' } }, limits],
    [{ limits: { cpu: '0.1', memory: '1024Mi' } }, limits],
  ]
  for (const [resources, expected] of changes) {
    const container = { name: 'a', ports: [{ containerPort: 80 }, port], resources }
    const given = { ...pod, spec: { containers: [...pod.spec.containers, container] } }
    const before = JSON.stringify(given)
    const decoded = decode(given) as typeof pod
    expect(JSON.stringify(decoded.spec.containers[1])).toBe(
      JSON.stringify({ name: 'a', ports: [port, port], resources: expected }),
    )
    expect(decoded.spec.containers[0]).toBe(pod.spec.containers[0])
    expect(decoded.metadata).toBe(pod.metadata)
    expect(JSON.stringify(given)).toBe(before)
  }
})
