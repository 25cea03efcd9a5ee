import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { answered, patched, WebhookServer } from '../../testdata/webhook-server.ts'

const configMaps = '/api/v1/namespaces/test/configmaps'
const hpas = 'namespaces/test/horizontalpodautoscalers'
const internal = 'Internal error occurred: failed calling webhook "a.example.com": '

// Both transports give the same results.
describe.each(['in-process', 'https'] as const)('admission webhooks %s', (transport) => {
  let server: WebhookServer

  beforeAll(async () => {
    server = await WebhookServer.start(transport)
  })
  afterAll(() => server[Symbol.asyncDispose]())
  afterEach(async () => {
    for (const kind of ['mutating', 'validating']) {
      await server.send(`DELETE /apis/admissionregistration.k8s.io/v1/${kind}webhookconfigurations`)
    }
    await server.send(`DELETE ${configMaps}`)
    server.calls.length = 0
  })

  test('receive the request and the object', async () => {
    server.hooks['/a'] = () => ({ allowed: true })
    await server.configure('Validating', 'v', 'a')
    const created = await server.send(`POST ${configMaps}?fieldManager=me&dryRun=All`, {
      metadata: { name: 'x' },
      data: { k: 'v' },
    })
    expect(created.status).toBe(201)
    const configMap = { group: '', version: 'v1', kind: 'ConfigMap' }
    const resource = { group: '', version: 'v1', resource: 'configmaps' }
    expect(server.calls).toEqual([
      {
        path: '/a?timeout=10s',
        review: {
          kind: 'AdmissionReview',
          apiVersion: 'admission.k8s.io/v1',
          request: {
            uid: expect.stringMatching(/^[0-9a-f-]{36}$/),
            kind: configMap,
            resource,
            requestKind: configMap,
            requestResource: resource,
            name: 'x',
            namespace: 'test',
            operation: 'CREATE',
            userInfo: { username: 'root', groups: ['system:masters'] },
            object: created.body,
            oldObject: null,
            dryRun: true,
            options: { kind: 'CreateOptions', apiVersion: 'meta.k8s.io/v1', fieldManager: 'me', dryRun: ['All'] },
          },
        },
      },
    ])
  })

  test('receive updates and deletes; deletes of collections have no name', async () => {
    server.hooks['/a'] = () => ({ allowed: true })
    const rules = [{ apiGroups: ['*'], apiVersions: ['*'], resources: ['*'], operations: ['UPDATE', 'DELETE'] }]
    await server.create('x', { data: { k: '1' } })
    await server.configure('Validating', 'v', { name: 'a', rules })
    await server.send(`PATCH ${configMaps}/x`, { data: { k: '2' } }, 'application/merge-patch+json')
    await server.send(`DELETE ${configMaps}/x`, { kind: 'DeleteOptions', apiVersion: 'v1', gracePeriodSeconds: 0 })
    await server.create('y')
    await server.send(`DELETE ${configMaps}`)
    const seen = server.calls.map(({ review: { request } }) => [
      request.operation,
      request.name,
      request.oldObject.metadata.name,
      request.object?.data,
      request.options,
    ])
    const deletion = { kind: 'DeleteOptions', apiVersion: 'meta.k8s.io/v1' }
    expect(seen).toEqual([
      ['UPDATE', 'x', 'x', { k: '2' }, { kind: 'UpdateOptions', apiVersion: 'meta.k8s.io/v1' }],
      ['DELETE', 'x', 'x', undefined, { ...deletion, gracePeriodSeconds: 0 }],
      ['DELETE', undefined, 'y', undefined, deletion],
    ])
  })

  test('receive the grace period of a deleted pod, but not of a deleted collection', async () => {
    server.hooks['/a'] = () => ({ allowed: true })
    const rules = [{ apiGroups: [''], apiVersions: ['v1'], resources: ['pods'], operations: ['DELETE'] }]
    const pods = '/api/v1/namespaces/test/pods'
    const spec = { nodeName: 'n', containers: [{ name: 'c', image: 'i' }] }
    for (const name of ['a', 'b'])
      expect((await server.send(`POST ${pods}`, { metadata: { name }, spec })).status).toBe(201)
    await server.configure('Validating', 'v', { name: 'a', rules })
    await server.send(`DELETE ${pods}/a`)
    await server.send(`DELETE ${pods}`)
    const periods = server.calls.map(({ review: { request } }) => [
      request.oldObject.metadata.name,
      request.options.gracePeriodSeconds,
    ])
    expect(periods).toEqual([
      ['a', 30],
      ['b', undefined],
    ])
    for (const name of ['a', 'b']) await server.send(`DELETE ${pods}/${name}?gracePeriodSeconds=0`)
  })

  test('that mutate run in order and can be reinvoked', async () => {
    const add = (path: string, value: unknown): object => patched({ op: 'add', path, value })
    server.hooks['/a'] = ({ object }) => add('/data/a', `${object.data.b ?? 'first'}`)
    server.hooks['/b'] = ({ object }) => add('/data/b', `after ${object.data.a}`)
    await server.configure('Mutating', 'one', { name: 'a', reinvocationPolicy: 'IfNeeded' })
    await server.configure('Mutating', 'two', 'b')
    const { body } = await server.create('x', { data: { k: 'v' } })
    expect(body.data).toEqual({ k: 'v', a: 'after first', b: 'after first' })
    expect(server.calls.map(({ path }) => path[1])).toEqual(['a', 'b', 'a'])
    expect(server.audit).toEqual({
      'mutation.webhook.admission.k8s.io/round_0_index_0':
        '{"configuration":"one","webhook":"a.example.com","mutated":true}',
      'mutation.webhook.admission.k8s.io/round_0_index_1':
        '{"configuration":"two","webhook":"b.example.com","mutated":true}',
      'mutation.webhook.admission.k8s.io/round_1_index_0':
        '{"configuration":"one","webhook":"a.example.com","mutated":true}',
    })
    // Changes of webhooks have no field manager.
    expect(body.metadata.managedFields[0].fieldsV1).toEqual({ 'f:data': { '.': {}, 'f:k': {} } })
  })

  test('that mutate run before defaulting', async () => {
    const rules = [{ apiGroups: ['apps'], apiVersions: ['v1'], resources: ['deployments'], operations: ['CREATE'] }]
    const path = '/spec/template/spec/containers/-'
    server.hooks['/a'] = () => patched({ op: 'add', path, value: { name: 'sidecar', image: 'proxy' } })
    await server.configure('Mutating', 'm', { name: 'a', rules })
    const labels = { app: 'd' }
    const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'nginx:1' }] } }
    const deployment = { metadata: { name: 'd' }, spec: { selector: { matchLabels: labels }, template } }
    const { body } = await server.send('POST /apis/apps/v1/namespaces/test/deployments?dryRun=All', deployment)
    expect(body.spec.template.spec.containers[1]).toMatchObject({ name: 'sidecar', imagePullPolicy: 'Always' })
  })

  test('receive objects converted to their version', async () => {
    const rules = [
      { apiGroups: ['autoscaling'], apiVersions: ['v1'], resources: ['horizontalpodautoscalers'], operations: ['*'] },
    ]
    server.hooks['/a'] = ({ object }) =>
      object ? patched({ op: 'replace', path: '/spec/targetCPUUtilizationPercentage', value: 70 }) : { allowed: true }
    await server.configure('Mutating', 'm', { name: 'a', rules })
    await server.configure('Validating', 'exact', { name: 'b', rules, matchPolicy: 'Exact' })
    const target = { type: 'Utilization', averageUtilization: 50 }
    const spec = {
      maxReplicas: 3,
      scaleTargetRef: { kind: 'Deployment', name: 'd', apiVersion: 'apps/v1' },
      metrics: [{ type: 'Resource', resource: { name: 'cpu', target } }],
    }
    const { body } = await server.send(`POST /apis/autoscaling/v2/${hpas}`, { metadata: { name: 'h' }, spec })
    expect(body.spec.metrics[0].resource.target.averageUtilization).toBe(70)
    await server.send(`DELETE /apis/autoscaling/v2/${hpas}/h`)
    const [creation, deletion] = server.calls.map(({ review }) => review.request)
    expect(server.calls).toHaveLength(2)
    expect(creation.object).toMatchObject({
      apiVersion: 'autoscaling/v1',
      spec: { maxReplicas: 3, targetCPUUtilizationPercentage: 50 },
    })
    expect(creation.kind.version).toBe('v1')
    expect(creation.resource.version).toBe('v1')
    expect(creation.requestKind.version).toBe('v2')
    expect(deletion.oldObject.spec.targetCPUUtilizationPercentage).toBe(70)
  })

  test('deny with their own code, reason and details, and warn', async () => {
    const causes = [{ field: 'data', message: 'no', reason: 'FieldValueInvalid' }]
    server.hooks['/a'] = () => ({
      allowed: false,
      status: { code: 422, reason: 'Invalid', message: 'not so', details: { causes } },
      warnings: ['think of it'],
      auditAnnotations: { why: 'because' },
    })
    server.hooks['/b'] = () => ({ allowed: false })
    await server.configure('Validating', 'v', 'a', 'b')
    const answer = await server.create('x')
    expect(answer.body).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: 'admission webhook "a.example.com" denied the request: not so',
      reason: 'Invalid',
      details: { causes },
      code: 422,
    })
    expect(answer.headers['warning']).toEqual(['299 - "think of it"'])
    expect(server.audit).toEqual({ 'a.example.com/why': 'because' })
    expect((await server.send(`GET ${configMaps}/x`)).status).toBe(404)
  })

  test.each<[string, () => object, string]>([
    [
      'no JSON',
      () => answered(200, 'hello'),
      'failed to call webhook: couldn\'t get version/kind; json parse error: json: cannot unmarshal string into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }',
    ],
    [
      'no review',
      () => answered(200, '{"kind":"Pod","apiVersion":"v1"}'),
      'failed to call webhook: no kind "Pod" is registered for version "v1" in scheme "k8s.io/apiserver/pkg/util/webhook/client.go:71"',
    ],
    ['no response', () => answered(200, '{}'), 'received invalid webhook response: webhook response was absent'],
    [
      'nothing',
      () => answered(200, ''),
      'failed to call webhook: 0-length response with status code: 200 and content type: application/json',
    ],
    [
      'a failure',
      () => answered(500, 'oh dear', 'text/plain'),
      'failed to call webhook: an error on the server ("oh dear") has prevented the request from succeeding',
    ],
    [
      'a redirect',
      () => ({ status: 307, headers: { location: ['https://example.com/'] }, body: Buffer.alloc(0) }),
      'failed to call webhook: the server responded with the status code 307 but did not return more information',
    ],
    [
      'a Status',
      () => answered(503, '{"kind":"Status","apiVersion":"v1","status":"Failure","message":"come back later"}'),
      'failed to call webhook: come back later',
    ],
    ['the wrong uid', () => ({ uid: 'x', allowed: true }), 'received invalid webhook response: expected response.uid='],
    [
      'a patch without its type',
      () => ({ allowed: true, patch: 'W10=' }),
      'received invalid webhook response: webhook returned response.patch but not response.patchType',
    ],
    [
      'a patch of another type',
      () => ({ ...patched({ op: 'test', path: '/kind', value: 'ConfigMap' }), patchType: 'Merge' }),
      'unsupported patch type "Merge"',
    ],
    [
      'an unreadable patch',
      () => ({ allowed: true, patchType: 'JSONPatch', patch: Buffer.from('nonsense').toString('base64') }),
      "received undecodable patch in webhook response: invalid character 'o' in literal null (expecting 'u')",
    ],
  ])('that respond with %s fail closed or open by failure policy', async (_, answer, text) => {
    server.hooks['/a'] = answer
    await server.configure('Mutating', 'm', 'a')
    const { status, body } = await server.create('x')
    expect(body.message).toContain(internal + text)
    expect(status).toBe(500)
    await server.send('DELETE /apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/m')
    await server.configure('Mutating', 'm', { name: 'a', failurePolicy: 'Ignore' })
    expect((await server.create('x')).status).toBe(201)
    expect(server.audit['failed-open.mutation.webhook.admission.k8s.io/round_0_index_0']).toBe('a.example.com')
  })

  test.each([
    [
      { op: 'remove', path: '/data/none' },
      'Internal error occurred: remove operation does not apply: doc is missing path: "/data/none": missing value',
    ],
    [
      { op: 'replace', path: '/metadata', value: 'x' },
      'Internal error occurred: json: cannot unmarshal string into Go struct field ConfigMap.metadata of type v1.ObjectMeta',
    ],
  ])('cannot ignore an invalid patch: %j', async (operation, message) => {
    server.hooks['/a'] = () => patched(operation)
    await server.configure('Mutating', 'm', { name: 'a', failurePolicy: 'Ignore' })
    expect((await server.create('x', { data: {} })).body.message).toBe(message)
  })

  test('time out', async () => {
    let called = (): void => undefined
    const reached = new Promise<void>((resolve) => {
      called = resolve
    })
    server.hooks['/a'] = () => {
      called()
      return new Promise(() => undefined)
    }
    await server.configure('Validating', 'v', { name: 'a', timeoutSeconds: 3 })
    const answer = server.create('x')
    await reached
    await server.plain.clock.advance(3000)
    const { url } = server.config('/a') as { url: string }
    expect((await answer).body.message).toBe(
      `${internal}failed to call webhook: Post "${url}?timeout=3s": context deadline exceeded`,
    )
  })

  test('cannot corrupt managed fields', async () => {
    server.hooks['/a'] = () => patched({ op: 'add', path: '/metadata/managedFields/0/fieldsType', value: 'Odd' })
    await server.configure('Mutating', 'm', 'a')
    const answer = await server.create('x', { data: { k: 'v' } })
    expect(answer.body.metadata.managedFields[0].fieldsType).toBe('FieldsV1')
    expect(String(answer.headers['warning'])).toContain(
      '.metadata.managedFields was in an invalid state after admission',
    )
  })
})

describe('admission webhooks', () => {
  let server: WebhookServer

  beforeAll(async () => {
    server = await WebhookServer.start('in-process')
    server.hooks['/a'] = () => ({ allowed: false })
  })
  afterAll(() => server[Symbol.asyncDispose]())
  afterEach(() => server.send('DELETE /apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations'))

  const rule = { apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'], operations: ['CREATE'] }

  test.each<[string, object, boolean]>([
    ['a namespace label', { namespaceSelector: { matchLabels: { env: 'test' } } }, true],
    ['another namespace label', { namespaceSelector: { matchLabels: { env: 'prod' } } }, false],
    ['an object label', { objectSelector: { matchExpressions: [{ key: 'l', operator: 'Exists' }] } }, true],
    ['no object label', { objectSelector: { matchExpressions: [{ key: 'l', operator: 'DoesNotExist' }] } }, false],
    ['namespaced scope', { rules: [{ ...rule, scope: 'Namespaced' }] }, true],
    ['cluster scope', { rules: [{ ...rule, scope: 'Cluster' }] }, false],
    ['everything', { rules: [{ apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'], operations: ['*'] }] }, true],
    ['subresources', { rules: [{ ...rule, resources: ['configmaps/status'] }] }, false],
    ['a condition', { matchConditions: [{ name: 'c', expression: "object.metadata.labels['l'] == '1'" }] }, true],
    ['the user', { matchConditions: [{ name: 'c', expression: "request.userInfo.username == 'jane'" }] }, false],
    [
      'a false condition beside a failing one',
      {
        matchConditions: [
          { name: 'c', expression: 'object.data.nosuch == object.data.key' },
          { name: 'd', expression: 'false' },
        ],
      },
      false,
    ],
    [
      'the permissions of the user',
      { matchConditions: [{ name: 'c', expression: "authorizer.group('').resource('pods').check('get').allowed()" }] },
      true,
    ],
  ])('are called by %s', async (_, more, asked) => {
    await server.configure('Validating', 'v', { name: 'a', ...more })
    const { status } = await server.send(`POST ${configMaps}?dryRun=All`, {
      metadata: { name: 'x', labels: { l: '1' } },
    })
    expect(status).toBe(asked ? 400 : 201)
  })

  test('whose match conditions fail to evaluate deny unless failures are ignored', async () => {
    const matchConditions = [{ name: 'c', expression: "object.data['no'] == 'x'" }]
    await server.configure('Validating', 'v', { name: 'a', matchConditions })
    const { status, body } = await server.create('x', { data: { k: 'v' } })
    expect(status).toBe(403)
    expect(body.message).toBe(
      `configmaps "x" is forbidden: expression 'object.data['no'] == 'x'' resulted in error: no such key: no`,
    )
    await server.send('DELETE /apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/v')
    await server.configure('Validating', 'v', { name: 'a', matchConditions, failurePolicy: 'Ignore' })
    expect((await server.create('y', { data: { k: 'v' } })).status).toBe(201)
  })

  test('are resolved as services, which need endpoints unless they run in this process', async () => {
    const service = { namespace: 'test', name: 'hooks', path: '/a' }
    await server.configure('Validating', 'v', { name: 'a', clientConfig: { service } })
    expect((await server.create('x')).body.message).toBe(
      'admission webhook "a.example.com" denied the request without explanation',
    )
    await server.configure('Validating', 'u', { name: 'b', clientConfig: { service: { ...service, name: 'none' } } })
    expect((await server.create('x')).body.message).toContain(
      'failed to call webhook: Post "https://none.test.svc:443/a?timeout=10s": service "none" not found',
    )
  })

  test('are not called for admission configuration', async () => {
    const rules = [{ apiGroups: ['*'], apiVersions: ['*'], resources: ['*'], operations: ['*'] }]
    await server.configure('Validating', 'v', { name: 'a', rules })
    await expect(server.configure('Validating', 'u', 'a')).resolves.toBeUndefined()
  })
})

test('admission webhooks are called only with a valid certificate', async () => {
  const server = await WebhookServer.start('https')
  try {
    server.hooks['/a'] = () => ({ allowed: true })
    const { url, caBundle } = server.config('/a') as { url: string; caBundle: string }
    const messageFor = async (clientConfig: object): Promise<string> => {
      await server.configure('Validating', 'v', { name: 'a', clientConfig })
      const { body } = await server.create('x')
      await server.send('DELETE /apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/v')
      return String(body.message).replace(/^.*timeout=10s": /, '')
    }
    const port = new URL(url).port
    expect(await messageFor({ url })).toBe(
      'tls: failed to verify certificate: x509: certificate signed by unknown authority',
    )
    expect(await messageFor({ url: `https://127.0.0.2:${port}/a`, caBundle })).toMatch(
      /connection refused|certificate is valid for 127\.0\.0\.1.*, not 127\.0\.0\.2/,
    )
    expect(await messageFor({ url: 'https://127.0.0.1:1/a' })).toBe('dial tcp 127.0.0.1:1: connect: connection refused')
    expect(server.calls).toEqual([])
  } finally {
    await server[Symbol.asyncDispose]()
  }
})
