import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { AdmissionServer } from '../testdata/admission-server.ts'

let server: AdmissionServer
let pods: string
let path: string
beforeAll(async () => {
  server = await AdmissionServer.start()
  path = await server.namespace('a')
  pods = `${path}/pods`
})
afterAll(() => server[Symbol.asyncDispose]())

const container = (more: object = {}): object => ({ name: 'c', image: 'i', ...more })
const pod = (spec: object = {}): object => ({ spec: { containers: [container()], ...spec } })

describe('serviceAccount()', () => {
  test('sets the default account and adds the token volume', async () => {
    const { spec } = await server.create(pods, 'sa', pod({ initContainers: [container({ name: 'i' })] }))
    const { name } = spec.volumes[0]
    expect(name).toMatch(/^kube-api-access-[a-z0-9]{5}$/)
    const mount = { name, readOnly: true, mountPath: '/var/run/secrets/kubernetes.io/serviceaccount' }
    expect(spec).toMatchObject({
      serviceAccountName: 'default',
      serviceAccount: 'default',
      containers: [{ volumeMounts: [mount] }],
      initContainers: [{ volumeMounts: [mount] }],
      volumes: [
        {
          projected: {
            defaultMode: 420,
            sources: [
              { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
              { configMap: { name: 'kube-root-ca.crt' } },
              { downwardAPI: { items: [{ path: 'namespace' }] } },
            ],
          },
        },
      ],
    })
  })

  test('mounts no token when the pod or its account opts out', async () => {
    await server.create(`${path}/serviceaccounts`, 'quiet', { automountServiceAccountToken: false })
    const of = async (name: string, spec: object): Promise<unknown> =>
      (await server.create(pods, name, pod(spec))).spec.volumes
    expect(await of('sa-1', { automountServiceAccountToken: false })).toBeUndefined()
    expect(await of('sa-2', { serviceAccountName: 'quiet' })).toBeUndefined()
    expect(await of('sa-3', { serviceAccountName: 'quiet', automountServiceAccountToken: true })).toHaveLength(1)
  })

  test('copies the image pull secrets of the account', async () => {
    await server.create(`${path}/serviceaccounts`, 'puller', { imagePullSecrets: [{ name: 's' }] })
    const { spec } = await server.create(pods, 'sa-4', pod({ serviceAccountName: 'puller' }))
    expect(spec.imagePullSecrets).toEqual([{ name: 's' }])
  })

  test('rejects a missing account', async () => {
    expect(await server.create(pods, 'sa-5', pod({ serviceAccountName: 'missing' }))).toBe(
      'pods "sa-5" is forbidden: error looking up service account a/missing: serviceaccount "missing" not found',
    )
  })

  test('restricts pods to the secrets of the account when it enforces that', async () => {
    const annotations = { 'kubernetes.io/enforce-mountable-secrets': 'true' }
    const body = { metadata: { name: 'strict', annotations }, secrets: [{ name: 'known' }] }
    await server.send('POST', `${path}/serviceaccounts`, body)
    const spec = (secret: string): object =>
      pod({ serviceAccountName: 'strict', volumes: [{ name: 'v', secret: { secretName: secret } }] })
    expect((await server.create(pods, 'sa-6', spec('known'))).kind).toBe('Pod')
    expect(await server.create(pods, 'sa-7', spec('other'))).toBe(
      'pods "sa-7" is forbidden: volume with secret.secretName="other" is not allowed because service account strict does not reference that secret',
    )
  })

  test('rejects mirror pods with a service account', async () => {
    const metadata = { name: 'm', annotations: { 'kubernetes.io/config.mirror': 'x' } }
    const mirror = (spec: object): Promise<unknown> => server.send('POST', pods, { metadata, ...pod(spec) })
    expect(await mirror({ serviceAccountName: 'default' })).toMatch(/a mirror pod may not reference service accounts$/)
    expect(await mirror({ volumes: [{ name: 'v', secret: { secretName: 's' } }] })).toMatch(
      /may not reference secrets$/,
    )
  })
})

describe('podPriority()', () => {
  const classes = '/apis/scheduling.k8s.io/v1/priorityclasses'

  test('sets the priority of the priority class', async () => {
    await server.create(classes, 'high', { value: 1000, preemptionPolicy: 'Never' })
    const { spec } = await server.create(pods, 'p-1', pod({ priorityClassName: 'high' }))
    expect(spec).toMatchObject({ priority: 1000, preemptionPolicy: 'Never' })
    expect((await server.create(pods, 'p-2', pod())).spec).toMatchObject({
      priority: 0,
      preemptionPolicy: 'PreemptLowerPriority',
    })
  })

  test.each([
    [{ priorityClassName: 'nosuch' }, 'no PriorityClass with name nosuch was found'],
    [
      { priority: 5 },
      'the integer value of priority (5) must not be provided in pod spec; priority admission controller computed 0 from the given PriorityClass name',
    ],
    [
      { priorityClassName: 'high', preemptionPolicy: 'PreemptLowerPriority' },
      'the string value of PreemptionPolicy (PreemptLowerPriority) must not be provided in pod spec; priority admission controller computed Never from the given PriorityClass name',
    ],
  ])('rejects %o', async (spec, why) => {
    expect(await server.create(pods, 'p-3', pod(spec))).toBe(`pods "p-3" is forbidden: ${why}`)
  })

  test('allows one default class and applies it to pods without a class', async () => {
    await server.create(classes, 'usual', { value: 7, globalDefault: true })
    expect((await server.create(pods, 'p-4', pod())).spec).toMatchObject({ priorityClassName: 'usual', priority: 7 })
    expect(await server.create(classes, 'second', { value: 8, globalDefault: true })).toBe(
      'priorityclasses.scheduling.k8s.io "second" is forbidden: PriorityClass usual is already marked as default. Only one default can exist',
    )
    await server.send('DELETE', `${classes}/usual`)
  })
})

describe('defaultTolerationSeconds', () => {
  test('adds only missing tolerations', async () => {
    const of = async (name: string, tolerations: object[]): Promise<object[]> =>
      (await server.create(pods, name, pod({ tolerations }))).spec.tolerations
    const added = { operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 }
    expect(await of('t-1', [])).toEqual([
      { key: 'node.kubernetes.io/not-ready', ...added },
      { key: 'node.kubernetes.io/unreachable', ...added },
    ])
    const own = { key: 'node.kubernetes.io/not-ready', operator: 'Exists' }
    expect(await of('t-2', [own])).toEqual([own, { key: 'node.kubernetes.io/unreachable', ...added }])
    expect(await of('t-3', [{ operator: 'Exists' }])).toEqual([{ operator: 'Exists' }])
  })
})

describe('runtimeClass()', () => {
  test('adds overhead and scheduling of the class', async () => {
    await server.create('/apis/node.k8s.io/v1/runtimeclasses', 'vm', {
      handler: 'vm',
      overhead: { podFixed: { cpu: '250m' } },
      scheduling: { nodeSelector: { vm: 'yes' }, tolerations: [{ key: 'vm', operator: 'Exists' }] },
    })
    const { spec } = await server.create(pods, 'r-1', pod({ runtimeClassName: 'vm', nodeSelector: { disk: 'ssd' } }))
    expect(spec).toMatchObject({ overhead: { cpu: '250m' }, nodeSelector: { disk: 'ssd', vm: 'yes' } })
    expect(spec.tolerations).toContainEqual({ key: 'vm', operator: 'Exists' })
  })

  test.each([
    [{ runtimeClassName: 'nosuch' }, 'pod rejected: RuntimeClass "nosuch" not found'],
    [
      { runtimeClassName: 'vm', overhead: { cpu: '1' } },
      `pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead`,
    ],
    [{ overhead: { cpu: '1' } }, 'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead'],
    [
      { runtimeClassName: 'vm', nodeSelector: { vm: 'no' } },
      'conflict: runtimeClass.scheduling.nodeSelector[vm] = yes; pod.spec.nodeSelector[vm] = no',
    ],
  ])('rejects %o', async (spec, why) => {
    expect(await server.create(pods, 'r-2', pod(spec))).toBe(`pods "r-2" is forbidden: ${why}`)
  })
})

describe('podTopologyLabels()', () => {
  test('copies zone and region of the node', async () => {
    const labels = { 'topology.kubernetes.io/zone': 'z', 'topology.kubernetes.io/region': 'r', other: 'x' }
    await server.send('POST', '/api/v1/nodes', { metadata: { name: 'node', labels } })
    const on = async (name: string, nodeName: string): Promise<unknown> =>
      (await server.create(pods, name, pod({ nodeName }))).metadata.labels
    const { other: _, ...expected } = labels
    expect(await on('n-1', 'node')).toEqual(expected)
    expect(await on('n-2', 'nosuch')).toBeUndefined()
  })
})

describe('limitRanger()', () => {
  let limited: string
  const of = (resources: object): object => pod({ containers: [container({ resources })] })
  beforeAll(async () => {
    const at = await server.namespace('limited')
    limited = `${at}/pods`
    await server.create(`${at}/limitranges`, 'l', {
      spec: {
        limits: [
          {
            type: 'Container',
            default: { cpu: '500m' },
            defaultRequest: { cpu: '100m' },
            min: { cpu: '50m' },
            max: { cpu: '1' },
            maxLimitRequestRatio: { cpu: '5' },
          },
          { type: 'Pod', max: { memory: '1Gi' } },
          { type: 'PersistentVolumeClaim', min: { storage: '1Gi' }, max: { storage: '5Gi' } },
        ],
      },
    })
  })

  test('sets default resources and annotates the pod', async () => {
    const created = await server.create(limited, 'l-1', of({ limits: { memory: '1Gi' } }))
    expect(created.spec.containers[0].resources).toEqual({
      requests: { cpu: '100m' },
      limits: { cpu: '500m', memory: '1Gi' },
    })
    expect(created.metadata.annotations).toEqual({
      'kubernetes.io/limit-ranger': 'LimitRanger plugin set: cpu request for container c; cpu limit for container c',
    })
  })

  const memory = { memory: '1Mi' }
  test.each([
    [{ requests: { cpu: '10m' }, limits: memory }, /minimum cpu usage per Container is 50m, but request is 10m/],
    [{ limits: { cpu: '2', ...memory } }, /maximum cpu usage per Container is 1, but limit is 2/],
    [
      { requests: { cpu: '50m' }, limits: { cpu: '500m', ...memory } },
      'pods "l-2" is forbidden: cpu max limit to request ratio per Container is 5, but provided ratio is 10.000000',
    ],
    [{}, 'pods "l-2" is forbidden: maximum memory usage per Pod is 1Gi.  No limit is specified'],
  ])('rejects %o', async (resources, why) => {
    expect(await server.create(limited, 'l-2', of(resources))).toMatch(why)
  })

  test('checks the requests of claims', async () => {
    const claims = '/api/v1/namespaces/limited/persistentvolumeclaims'
    const size = (storage: string): object => ({ spec: { resources: { requests: { storage } } } })
    expect((await server.create(claims, 'c-1', size('2Gi'))).kind).toBe('PersistentVolumeClaim')
    expect(await server.create(claims, 'c-2', size('6Gi'))).toBe(
      'persistentvolumeclaims "c-2" is forbidden: maximum storage usage per PersistentVolumeClaim is 5Gi, but request is 6Gi',
    )
  })
})
