import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startCoreServer } from '../../testdata/core-server.ts'
import type { PlainAnswer, PlainServer } from '../../testdata/plain-server.ts'

let server: PlainServer
beforeAll(async () => {
  server = await startCoreServer()
})
afterAll(() => server[Symbol.asyncDispose]())

const ns = '/api/v1/namespaces/a'
const merge = { 'content-type': 'application/merge-patch+json' }
const strategic = { 'content-type': 'application/strategic-merge-patch+json' }
const named = (name: string, more: object = {}): object => ({ metadata: { name }, ...more })
const create = (path: string, body: unknown): Promise<PlainAnswer> => server.send(`POST ${path}`, { body })
const patch = (path: string, body: unknown, headers = merge): Promise<PlainAnswer> =>
  server.send(`PATCH ${path}`, { body, headers })
const container = { name: 'c', image: 'nginx:1.25' }
const pod = (name: string, spec: object = {}): object => named(name, { spec: { containers: [container], ...spec } })

/** What was said after `Kind "name" is invalid: `. */
function problem({ body }: PlainAnswer): string {
  return String(body.message).replace(/^\S+ "\S*" is invalid: /, '')
}

describe('creating is refused', () => {
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
  ])('for %s %j of the cluster', async (plural, body, text) => {
    const answer = await create(`/api/v1/${plural}?dryRun=All`, named('x', body))
    expect(answer.status).toBe(422)
    expect(problem(answer)).toBe(text)
  })
})

describe('Secret', () => {
  test('keeps stringData as data and gets a type', async () => {
    const { body } = await create(
      `${ns}/secrets`,
      named('s', { data: { a: 'eA==', b: 'eA==' }, stringData: { b: 'y' } }),
    )
    expect(body).toMatchObject({ type: 'Opaque', data: { a: 'eA==', b: 'eQ==' } })
    expect(body).not.toHaveProperty('stringData')
  })

  test('cannot change its type, nor its data when it is immutable', async () => {
    await create(`${ns}/secrets`, named('fixed', { immutable: true, data: { a: 'eA==' } }))
    expect(problem(await patch(`${ns}/secrets/fixed`, { immutable: null, type: 'x', data: { a: null } }))).toBe(
      '[type: Invalid value: "x": field is immutable, immutable: Forbidden: field is immutable when `immutable` is set, data: Forbidden: field is immutable when `immutable` is set]',
    )
  })

  test('warns about certificates that fit no key', async () => {
    const answer = await create(
      `${ns}/secrets`,
      named('tls', { type: 'kubernetes.io/tls', stringData: { 'tls.crt': 'x', 'tls.key': 'y' } }),
    )
    expect(answer.status).toBe(201)
    expect(answer.headers['warning']).toEqual(['299 - "tls: failed to find any PEM data in certificate input"'])
  })
})

describe('Namespace', () => {
  test('stays until its content is gone and finalize is called', async () => {
    const created = await create('/api/v1/namespaces', named('going'))
    expect(created.body).toMatchObject({
      metadata: { labels: { 'kubernetes.io/metadata.name': 'going' } },
      spec: { finalizers: ['kubernetes'] },
      status: { phase: 'Active' },
    })
    const deleted = await server.send('DELETE /api/v1/namespaces/going')
    expect(deleted.body).toMatchObject({
      metadata: { deletionTimestamp: '2026-01-02T03:04:05Z' },
      status: { phase: 'Terminating' },
    })
    expect((await server.send('DELETE /api/v1/namespaces/going')).body.metadata.resourceVersion).toBe(
      deleted.body.metadata.resourceVersion,
    )
    const finalized = await server.send('PUT /api/v1/namespaces/going/finalize', { body: named('going', { spec: {} }) })
    expect(finalized.body.spec).toEqual({})
    expect((await server.send('GET /api/v1/namespaces/going')).status).toBe(404)
  })

  test('has a phase that fits its deletion', async () => {
    await create('/api/v1/namespaces', named('phase'))
    expect(problem(await patch('/api/v1/namespaces/phase/status', { status: { phase: 'Terminating' } }))).toBe(
      'status.Phase: Invalid value: "Terminating": may only be \'Active\' if `deletionTimestamp` is empty',
    )
  })

  test('stays when its status is written while it is being emptied', async () => {
    await create('/api/v1/namespaces', named('emptied'))
    await server.send('DELETE /api/v1/namespaces/emptied')
    const conditions = [{ type: 'NamespaceContentRemaining', status: 'True' }]
    await patch('/api/v1/namespaces/emptied/status', { status: { conditions } })
    expect((await server.send('GET /api/v1/namespaces/emptied')).body).toMatchObject({ status: { conditions } })
  })
})

describe('Pod', () => {
  test('starts pending, with its class and generation', async () => {
    const { body } = await create(`${ns}/pods`, pod('new', { schedulingGates: [{ name: 'g' }] }))
    expect(body.metadata.generation).toBe(1)
    expect(body.status).toEqual({
      phase: 'Pending',
      qosClass: 'BestEffort',
      conditions: [
        {
          type: 'PodScheduled',
          status: 'False',
          reason: 'SchedulingGated',
          message: 'Scheduling is blocked due to non-empty scheduling gates',
          lastProbeTime: null,
          lastTransitionTime: '2026-01-02T03:04:05Z',
        },
      ],
    })
  })

  test('says in fields what annotations say about AppArmor', async () => {
    const key = 'container.apparmor.security.beta.kubernetes.io/c'
    const metadata = { name: 'armor', annotations: { [key]: 'localhost/x' } }
    const answer = await create(`${ns}/pods?dryRun=All`, { ...pod('armor'), metadata })
    expect(answer.body.spec.containers[0].securityContext).toEqual({
      appArmorProfile: { type: 'Localhost', localhostProfile: 'x' },
    })
    expect(answer.headers['warning']).toEqual([
      `299 - "metadata.annotations[${key}]: deprecated since v1.30; use the \\"appArmorProfile\\" field instead"`,
    ])
  })

  test('puts the values of its labels where constraints ask for them', async () => {
    const constraint = {
      maxSkew: 1,
      topologyKey: 'k',
      whenUnsatisfiable: 'DoNotSchedule',
      labelSelector: {},
      matchLabelKeys: ['v'],
    }
    const spec = { containers: [container], topologySpreadConstraints: [constraint] }
    const { body } = await create(`${ns}/pods?dryRun=All`, { metadata: { name: 'spread', labels: { v: '1' } }, spec })
    expect(body.spec.topologySpreadConstraints[0].labelSelector).toEqual({
      matchExpressions: [{ key: 'v', operator: 'In', values: ['1'] }],
    })
  })

  test('shows what an update may not change', async () => {
    await create(`${ns}/pods`, pod('fixed'))
    const answer = await patch(`${ns}/pods/fixed`, { spec: { hostname: 'h' } })
    expect(problem(answer)).toMatch(
      /^spec: Forbidden: pod updates may not change fields other than `spec\.containers\[\*\]\.image`/,
    )
    expect(problem(answer)).toContain('- "Hostname": "",\n+ "Hostname": "h",\n')
    const image = await patch(`${ns}/pods/fixed`, { spec: { containers: [{ name: 'c', image: 'b' }] } }, strategic)
    expect(image.body.metadata.generation).toBe(2)
  })

  test('goes at once without a node, and after its grace period with one', async () => {
    await create(`${ns}/pods`, pod('free'))
    expect((await server.send(`DELETE ${ns}/pods/free`)).status).toBe(200)
    expect((await server.send(`GET ${ns}/pods/free`)).status).toBe(404)
    await create(`${ns}/pods`, pod('bound', { nodeName: 'n' }))
    const { body } = await server.send(`DELETE ${ns}/pods/bound`)
    expect(body.metadata).toMatchObject({ deletionTimestamp: '2026-01-02T03:04:35Z', deletionGracePeriodSeconds: 30 })
    await server.send(`DELETE ${ns}/pods/bound?gracePeriodSeconds=0`)
    expect((await server.send(`GET ${ns}/pods/bound`)).status).toBe(404)
  })

  test('has its single address at the head of the list of its addresses', async () => {
    await create(`${ns}/pods`, pod('address'))
    const set = (status: object) => patch(`${ns}/pods/address/status`, { status })
    expect((await set({ podIP: '10.0.0.1' })).body.status).toMatchObject({ podIPs: [{ ip: '10.0.0.1' }] })
    expect((await set({ podIP: null, podIPs: [{ ip: '10.0.0.2' }] })).body.status).toMatchObject({ podIP: '10.0.0.2' })
    expect((await set({ podIP: '10.0.0.3' })).body.status).toMatchObject({ podIPs: [{ ip: '10.0.0.3' }] })
    expect(problem(await set({ podIP: 'x' }))).toMatch(
      /^status\.podIPs\[0\]: Invalid value: "x": must be a valid IP address/,
    )
  })

  test('is bound once', async () => {
    await create(`${ns}/pods`, pod('bind'))
    const binding = named('bind', { apiVersion: 'v1', kind: 'Binding', target: { kind: 'Node', name: 'n1' } })
    expect((await create(`${ns}/pods/bind/binding`, binding)).body).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Success',
      code: 201,
    })
    expect((await server.send(`GET ${ns}/pods/bind`)).body.spec.nodeName).toBe('n1')
    expect((await create(`${ns}/pods/bind/binding`, binding)).body.message).toBe(
      'Operation cannot be fulfilled on pods/binding "bind": pod bind is already assigned to node "n1"',
    )
  })

  test('is evicted only as far as budgets allow', async () => {
    await create(`${ns}/pods`, { ...pod('guarded'), metadata: { name: 'guarded', labels: { app: 'g' } } })
    const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] }
    await patch(`${ns}/pods/guarded/status`, { status })
    const budgets = '/apis/policy/v1/namespaces/a/poddisruptionbudgets'
    await create(budgets, named('b', { spec: { minAvailable: 1, selector: { matchLabels: { app: 'g' } } } }))
    const eviction = named('guarded', { apiVersion: 'policy/v1', kind: 'Eviction' })
    expect((await create(`${ns}/pods/guarded/eviction`, { ...eviction, metadata: {} })).body.message).toBe(
      'name in URL does not match name in Eviction object',
    )
    const causes = async (): Promise<unknown> =>
      (await create(`${ns}/pods/guarded/eviction`, eviction)).body.details.causes
    expect(await causes()).toEqual([
      { reason: 'DisruptionBudget', message: 'The disruption budget b is still being processed by the server.' },
    ])
    await patch(`${budgets}/b/status`, { status: { observedGeneration: 1, currentHealthy: 1, desiredHealthy: 1 } })
    expect(await causes()).toEqual([
      { reason: 'DisruptionBudget', message: 'The disruption budget b needs 1 healthy pods and has 1 currently' },
    ])
    await patch(`${budgets}/b/status`, { status: { disruptionsAllowed: 1 } })
    expect((await create(`${ns}/pods/guarded/eviction`, { ...eviction, apiVersion: 'policy/v1beta1' })).status).toBe(
      201,
    )
    expect((await server.send(`GET ${budgets}/b`)).body.status).toMatchObject({
      disruptionsAllowed: 0,
      disruptedPods: { guarded: '2026-01-02T03:04:05Z' },
    })
  })

  test('takes ephemeral containers through their subresource and keeps them', async () => {
    await create(`${ns}/pods`, pod('debug'))
    const add = { spec: { ephemeralContainers: [{ name: 'e', image: 'busybox' }] } }
    expect((await patch(`${ns}/pods/debug/ephemeralcontainers`, add, strategic)).body.metadata.generation).toBe(2)
    const remove = { spec: { ephemeralContainers: [] } }
    expect(problem(await patch(`${ns}/pods/debug/ephemeralcontainers`, remove))).toBe(
      'spec.ephemeralContainers: Forbidden: existing ephemeral containers "e" may not be removed\n',
    )
  })

  test.each([
    ['GET', 'log', 204, ''],
    ['GET', 'log?container=zz', 400, 'container zz is not valid for pod lonely'],
    [
      'GET',
      'log?tailLines=-1',
      422,
      'PodLogOptions "lonely" is invalid: tailLines: Invalid value: -1: must be greater than or equal to 0',
    ],
    ['POST', 'exec?command=ls', 400, 'pod lonely does not have a host assigned'],
    ['POST', 'portforward', 400, 'pod lonely does not have a host assigned'],
    ['GET', 'proxy', 400, 'address not allowed'],
  ])('answers %s %s as a server without nodes', async (method, path, status, message) => {
    await create(`${ns}/pods`, pod('lonely'))
    const answer = await server.send(`${method} ${ns}/pods/lonely/${path}`)
    expect(answer.status).toBe(status)
    expect(answer.body.message ?? answer.text).toBe(message)
  })

  test.each([
    ['spec.nodeName=n9', 1],
    ['spec.nodeName!=n9,metadata.name=selected', 0],
    ['status.phase=Pending,spec.host=n9', 1],
  ])('is selected by %s', async (selector, count) => {
    await create(`${ns}/pods`, pod('selected', { nodeName: 'n9' }))
    const { body } = await server.send(`GET ${ns}/pods?fieldSelector=${encodeURIComponent(selector)}`)
    expect(body.items).toHaveLength(count)
  })
})

describe('Event', () => {
  test('is one object in two groups', async () => {
    await create(
      `${ns}/events`,
      named('e', { involvedObject: { kind: 'Pod', name: 'p', namespace: 'a' }, reason: 'R', message: 'm', count: 2 }),
    )
    const { body } = await server.send('GET /apis/events.k8s.io/v1/namespaces/a/events/e')
    expect(body).toMatchObject({
      apiVersion: 'events.k8s.io/v1',
      regarding: { kind: 'Pod', name: 'p', namespace: 'a' },
      note: 'm',
      deprecatedCount: 2,
    })
    const found = await server.send('GET /apis/events.k8s.io/v1/events?fieldSelector=regarding.name=p')
    expect(found.body.items).toHaveLength(1)
  })

  test('of the newer group says what happened only once', async () => {
    const path = '/apis/events.k8s.io/v1/namespaces/a/events'
    const event = {
      regarding: { kind: 'Pod', name: 'p', namespace: 'a' },
      eventTime: '2026-01-01T00:00:00.000000Z',
      reportingController: 'c',
      reportingInstance: 'i',
      action: 'A',
      reason: 'R',
      type: 'Normal',
    }
    expect((await create(path, named('once', event))).status).toBe(201)
    expect(problem(await patch(`${path}/once`, { note: 'x' }))).toBe('message: Invalid value: "x": field is immutable')
  })
})

describe('PersistentVolumeClaim', () => {
  const claim = { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } }

  test('names its source in both fields', async () => {
    const source = { kind: 'PersistentVolumeClaim', name: 'b' }
    const { body } = await create(
      `${ns}/persistentvolumeclaims`,
      named('src', { spec: { ...claim.spec, dataSource: source } }),
    )
    expect(body.spec.dataSourceRef).toEqual({ apiGroup: null, ...source })
  })

  test('is fixed until it is bound, and may grow then', async () => {
    const path = `${ns}/persistentvolumeclaims/grow`
    await create(`${ns}/persistentvolumeclaims`, named('grow', claim))
    const grow = { spec: { resources: { requests: { storage: '2Gi' } } } }
    expect(problem(await patch(path, grow))).toMatch(/^spec: Forbidden: spec is immutable after creation except/)
    await patch(`${path}/status`, { status: { phase: 'Bound', capacity: { storage: '1Gi' } } })
    expect((await patch(path, grow)).status).toBe(200)
    expect(problem(await patch(path, { spec: { resources: { requests: { storage: '1Gi' } } } }))).toBe(
      'spec.resources.requests.storage: Forbidden: field can not be less than status.capacity',
    )
  })
})

describe('Node', () => {
  test('keeps the status it comes with, and its range', async () => {
    const { body } = await create(
      '/api/v1/nodes',
      named('n', { spec: { podCIDR: '10.1.0.0/24' }, status: { capacity: { cpu: '4' } } }),
    )
    expect(body).toMatchObject({
      spec: { podCIDR: '10.1.0.0/24', podCIDRs: ['10.1.0.0/24'] },
      status: { capacity: { cpu: '4' }, allocatable: { cpu: '4' } },
    })
    expect(
      problem(await patch('/api/v1/nodes/n', { spec: { podCIDR: '10.2.0.0/24', podCIDRs: ['10.2.0.0/24'] } })),
    ).toBe('spec.podCIDRs: Forbidden: node updates may not change podCIDR except from "" to valid')
    expect(problem(await patch('/api/v1/nodes/n', { spec: { podCIDR: '10.2.0.0/24' } }))).toBe(
      'spec.podCIDRs: Forbidden: node updates may not change podCIDR except from "" to valid',
    )
  })
})

test('LimitRange fills the defaults of containers from their bounds', async () => {
  const limits = [{ type: 'Container', max: { cpu: '2' }, min: { memory: '1Mi' } }]
  const { body } = await create(`${ns}/limitranges`, named('fill', { spec: { limits } }))
  expect(body.spec.limits[0]).toMatchObject({ default: { cpu: '2' }, defaultRequest: { cpu: '2', memory: '1Mi' } })
})

test('LimitRange without a name gets one', async () => {
  const { body } = await create(`${ns}/limitranges`, { spec: { limits: [{ type: 'Pod' }] } })
  expect(body.metadata.name).toMatch(/^[0-9a-f-]{36}$/)
})

test('ReplicationController takes selector and labels from its template', async () => {
  const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [container] } }
  const { body } = await create(`${ns}/replicationcontrollers`, named('rc', { spec: { template } }))
  expect(body).toMatchObject({
    metadata: { labels: { a: 'b' }, generation: 1 },
    spec: { replicas: 1, selector: { a: 'b' } },
  })
})

test('Endpoints are deprecated, and say so', async () => {
  const answer = await server.send(`GET ${ns}/endpoints`)
  expect(answer.headers['warning']).toEqual([
    '299 - "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"',
  ])
})

test.each([
  ['pods', 'field label not supported: x'],
  ['secrets', 'field label not supported: x'],
  ['configmaps', '"x" is not a known field selector: only "metadata.name", "metadata.namespace"'],
])('field selectors of %s name only known fields', async (plural, message) => {
  const { body } = await server.send(`GET ${ns}/${plural}?fieldSelector=x=y`)
  expect(body.message).toContain(message)
})
