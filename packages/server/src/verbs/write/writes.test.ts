import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PlainServer } from '../../testdata/plain-server.ts'

let server: PlainServer
beforeAll(async () => {
  server = await PlainServer.start([
    { group: 'apps', resource: 'deployments', strategy: { generation: true } },
    {
      group: 'coordination.k8s.io',
      resource: 'leases',
      strategy: { anyFinalizer: true, allowCreateOnUpdate: true, allowUnconditionalUpdate: false },
    },
  ])
})
afterAll(() => server[Symbol.asyncDispose]())

const maps = '/api/v1/namespaces/a/configmaps'
const merge = { 'content-type': 'application/merge-patch+json' }
const jsonPatch = { 'content-type': 'application/json-patch+json' }
const strategic = { 'content-type': 'application/strategic-merge-patch+json' }
const apply = { 'content-type': 'application/apply-patch+yaml' }
const map = (name: string, more: object = {}): object => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  ...more,
})

describe('create', () => {
  test('responds with the bytes of the stored object', async () => {
    const created = await server.send(`POST ${maps}`, { body: map('create', { data: { k: 'v' }, nope: 1 }) })
    expect(created.status).toBe(201)
    expect(created.headers['warning']).toEqual(['299 - "unknown field \\"nope\\""'])
    expect(created.body).toMatchObject({
      kind: 'ConfigMap',
      data: { k: 'v' },
      metadata: { name: 'create', namespace: 'a' },
    })
    expect(created.body).not.toHaveProperty('nope')
    expect((await server.send(`GET ${maps}/create`)).text).toBe(created.text)
  })

  test.each([
    ['an existing name', map('create'), 409, 'configmaps "create" already exists'],
    [
      'another namespace',
      map('x', { metadata: { name: 'x', namespace: 'b' } }),
      400,
      'the namespace of the provided object does not match the namespace sent on the request',
    ],
    [
      'a resource version',
      map('x', { metadata: { name: 'x', resourceVersion: '5' } }),
      500,
      'resourceVersion should not be set on objects to be created',
    ],
    [
      'another kind',
      { ...map('x'), kind: 'Pod' },
      400,
      'Pod in version "v1" cannot be handled as a ConfigMap: converting (v1.Pod) to (core.ConfigMap): unknown conversion',
    ],
    [
      'a kind of a removed version',
      { ...map('x'), apiVersion: 'apps/v1beta1', kind: 'Deployment' },
      400,
      'Deployment in version "v1beta1" cannot be handled as a ConfigMap: converting (v1beta1.Deployment) to (core.ConfigMap): unknown conversion',
    ],
    [
      'an unknown kind',
      { ...map('x'), kind: 'X' },
      400,
      'X in version "v1" cannot be handled as a ConfigMap: no kind "X" is registered for version "v1" in scheme "pkg/api/legacyscheme/scheme.go:30"',
    ],
    [
      'an empty body',
      '',
      400,
      "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: unexpected end of JSON input (<empty>)",
    ],
    [
      'truncated JSON',
      '{"a"',
      400,
      'the object provided is unrecognized (must be of type ConfigMap): couldn\'t get version/kind; json parse error: unexpected end of JSON input ({"a")',
    ],
    [
      'an array',
      '[]',
      400,
      'the object provided is unrecognized (must be of type ConfigMap): couldn\'t get version/kind; json parse error: json: cannot unmarshal array into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" } (5b5d)',
    ],
  ])('rejects %s', async (_, body, status, message) => {
    const answer = await server.send(`POST ${maps}`, { body })
    expect([answer.status, answer.body.message]).toEqual([status, message])
  })

  test('merges repeated objects as Go does, and warns', async () => {
    const body = '{"metadata":{"name":"twice"},"data":{"a":"1"},"data":{"b":"2"}}'
    const created = await server.send(`POST ${maps}`, { body })
    expect(created.body.data).toEqual({ a: '1', b: '2' })
    expect(created.headers['warning']).toEqual(['299 - "duplicate field \\"data\\""'])
    const strict = await server.send(`POST ${maps}?fieldValidation=Strict`, { body })
    expect(strict.body.message).toBe(
      'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: duplicate field "data"',
    )
  })

  test.each([
    ['application/json', (n: number) => `{"metadata":{"name":"deep"},"nope":${'['.repeat(n)}${']'.repeat(n)}}`],
    ['application/yaml', (n: number) => `metadata: {name: deep}\nnope: ${'['.repeat(n)}${']'.repeat(n)}`],
  ])('rejects %s that is nested too deep', async (type, make) => {
    for (const depth of [3000, 30_000, 300_000]) {
      const answer = await server.send(`POST ${maps}?dryRun=All`, {
        body: make(depth),
        headers: { 'content-type': type },
      })
      expect([depth, answer.status, answer.body.message]).toEqual([
        depth,
        400,
        expect.stringContaining('exceeded max depth'),
      ])
    }
  })

  test('rejects objects above the size limit of etcd', async () => {
    const body = map('large', { data: { k: 'x'.repeat(1.6 * 1024 * 1024) } })
    const answer = await server.send(`POST ${maps}`, { body })
    expect([answer.status, answer.body.message]).toEqual([500, 'etcdserver: request is too large'])
  })

  test('generates names until one is free', async () => {
    const names = new Set<string>()
    for (let i = 0; i < 20; i++) {
      names.add((await server.send(`POST ${maps}`, { body: { metadata: { generateName: 'g-' } } })).body.metadata.name)
    }
    expect(names.size).toBe(20)
  })

  test('drops duplicate owner references and warns', async () => {
    const owner = { apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u' }
    const created = await server.send(`POST ${maps}`, {
      body: map('owned', { metadata: { name: 'owned', ownerReferences: [owner, owner] } }),
    })
    expect(created.body.metadata.ownerReferences).toEqual([owner])
    expect(String(created.headers['warning'])).toContain('duplicate UID(s) observed: u')
  })

  test('stores nothing in a dry run', async () => {
    const dry = await server.send(`POST ${maps}?dryRun=All`, { body: map('dry') })
    expect([dry.status, dry.body.metadata.resourceVersion]).toEqual([201, undefined])
    expect((await server.send(`GET ${maps}/dry`)).status).toBe(404)
  })
})

describe('create with a resourceVersion', () => {
  const leases = '/apis/coordination.k8s.io/v1/namespaces/a/leases'
  const versioned = (name: string, resourceVersion: string): object =>
    map(name, { metadata: { name, resourceVersion } })

  test('is accepted and ignored for an apply and for an update that creates', async () => {
    const applied = await server.send(`PATCH ${maps}/applied?fieldManager=m`, {
      headers: apply,
      body: versioned('applied', '5'),
    })
    expect(applied.status).toBe(201)
    expect(applied.body.metadata.resourceVersion).not.toBe('5')
    const lease = { metadata: { name: 'put', resourceVersion: '5' } }
    expect((await server.send(`PUT ${leases}/put`, { body: lease })).status).toBe(201)
  })

  test('is returned by a dry run, and ignored when it is no number', async () => {
    const dry = await server.send(`POST ${maps}?dryRun=All`, { body: versioned('dry', '5') })
    expect([dry.status, dry.body.metadata.resourceVersion]).toEqual([201, '5'])
    expect((await server.send(`POST ${maps}`, { body: versioned('no-version', 'x') })).status).toBe(201)
  })

  test('is rejected when it is no number in an update that creates', async () => {
    const lease = { metadata: { name: 'bad', resourceVersion: 'x' } }
    const answer = await server.send(`PUT ${leases}/bad`, { body: lease })
    expect([answer.status, answer.body.message]).toEqual([500, 'strconv.ParseUint: parsing "x": invalid syntax'])
  })

  test('concurrent applies of an object that does not exist all succeed', async () => {
    const answers = await Promise.all(
      ['one', 'two', 'three'].map((manager) =>
        server.send(`PATCH ${maps}/raced?fieldManager=${manager}`, {
          headers: apply,
          body: map('raced', { data: { [manager]: 'x' } }),
        }),
      ),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 201])
    expect((await server.send(`GET ${maps}/raced`)).body.data).toEqual({ one: 'x', two: 'x', three: 'x' })
  })
})

describe('update', () => {
  test('keeps the resource version when nothing changes', async () => {
    const first = (await server.send(`POST ${maps}`, { body: map('put', { data: { k: 'v' } }) })).body
    const same = (await server.send(`PUT ${maps}/put`, { body: map('put', { data: { k: 'v' } }) })).body
    expect(same).toEqual(first)
    const other = (await server.send(`PUT ${maps}/put`, { body: map('put', { data: { k: 'w' } }) })).body
    expect(other.metadata.resourceVersion).not.toBe(first.metadata.resourceVersion)
    const late = await server.send(`PUT ${maps}/put`, { body: first })
    expect([late.status, late.body.reason]).toEqual([409, 'Conflict'])
  })

  test.each([
    ['no name', map(''), 'the name of the object (put based on URL) was undeterminable: name must be provided'],
    ['another name', map('x'), 'the name of the object (x) does not match the name on the URL (put)'],
  ])('rejects %s', async (_, body, message) => {
    expect((await server.send(`PUT ${maps}/put`, { body })).body.message).toBe(message)
  })

  test('creates if the kind allows it, and requires a resource version if the kind does', async () => {
    const path = '/apis/coordination.k8s.io/v1/namespaces/a/leases/l'
    const lease = { metadata: { name: 'l' }, spec: { holderIdentity: 'x' } }
    expect((await server.send(`PUT ${path}`, { body: lease })).status).toBe(201)
    const again = await server.send(`PUT ${path}`, { body: lease })
    expect([again.status, again.body.message]).toEqual([
      422,
      'leases.coordination.k8s.io "l" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update',
    ])
  })
})

describe('status and scale', () => {
  const path = '/apis/apps/v1/namespaces/a/deployments'
  const deployment = (spec: object, status: object): object => ({
    metadata: { name: 'd' },
    spec: { selector: { matchLabels: { a: 'b' } }, template: {}, ...spec },
    status,
  })

  test('each endpoint changes only its own part', async () => {
    const created = (await server.send(`POST ${path}`, { body: deployment({ replicas: 1 }, { replicas: 9 }) })).body
    expect([created.metadata.generation, created.status]).toEqual([1, {}])
    const status = (await server.send(`PUT ${path}/d/status`, { body: deployment({ replicas: 5 }, { replicas: 3 }) }))
      .body
    expect([status.metadata.generation, status.spec.replicas, status.status]).toEqual([1, 1, { replicas: 3 }])
    const entry = status.metadata.managedFields.find((e: { subresource?: string }) => e.subresource === 'status')
    expect(entry.fieldsV1).toEqual({ 'f:status': { 'f:replicas': {} } })
    const spec = (await server.send(`PUT ${path}/d`, { body: deployment({ replicas: 2 }, {}) })).body
    expect([spec.metadata.generation, spec.spec.replicas, spec.status]).toEqual([2, 2, { replicas: 3 }])
  })

  test('a scale reads and writes the replicas', async () => {
    const shown = (await server.send(`GET ${path}/d/scale`)).body
    expect(shown).toMatchObject({
      kind: 'Scale',
      apiVersion: 'autoscaling/v1',
      spec: { replicas: 2 },
      status: { replicas: 3, selector: 'a=b' },
    })
    const scaled = await server.send(`PATCH ${path}/d/scale`, { body: { spec: { replicas: 7 } }, headers: merge })
    expect([scaled.status, scaled.body.spec.replicas]).toEqual([200, 7])
    const after = (await server.send(`GET ${path}/d`)).body
    expect([after.spec.replicas, after.metadata.generation]).toEqual([7, 3])
    const negative = await server.send(`PATCH ${path}/d/scale`, { body: { spec: { replicas: -1 } }, headers: merge })
    expect(negative.body.message).toBe(
      'Scale.autoscaling "d" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0',
    )
  })

  test('a scale with another uid is rejected: by the store on PUT, by the view on PATCH', async () => {
    const { uid } = (await server.send(`GET ${path}/d`)).body.metadata
    const why = `Precondition failed: UID in precondition: other, UID in object meta: ${uid}`
    const put = await server.send(`PUT ${path}/d/scale`, { body: { metadata: { name: 'd', uid: 'other' } } })
    expect([put.status, put.body.details.kind]).toEqual([409, 'deployments'])
    expect(put.body.message).toBe(
      'Operation cannot be fulfilled on deployments.apps "d": StorageError: invalid object, Code: 4, ' +
        `Key: /registry/deployments/a/d, ResourceVersion: 0, AdditionalErrorMsg: ${why}`,
    )
    const patched = await server.send(`PATCH ${path}/d/scale`, { body: { metadata: { uid: 'other' } }, headers: merge })
    expect(patched.body.message).toBe(`Operation cannot be fulfilled on deployments/scale.apps "d": ${why}`)
  })
})

describe('patch', () => {
  beforeAll(async () => {
    await server.send(`POST ${maps}`, { body: map('patch', { data: { k: 'v' } }) })
  })

  test.each([
    ['a JSON patch', jsonPatch, [{ op: 'add', path: '/data/a', value: '1' }], { k: 'v', a: '1' }],
    ['a merge patch', merge, { data: { a: null, b: '2' } }, { k: 'v', b: '2' }],
    ['a strategic merge patch', strategic, { data: { b: null } }, { k: 'v' }],
  ])('applies %s', async (_, headers, body, data) => {
    expect((await server.send(`PATCH ${maps}/patch`, { headers, body })).body.data).toEqual(data)
  })

  test.each([
    [
      jsonPatch,
      {},
      400,
      'error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp',
    ],
    [jsonPatch, 'x', 400, "error decoding patch: invalid character 'x' looking for beginning of value"],
    [
      jsonPatch,
      [{ op: 'remove', path: '/data/none' }],
      422,
      'the server rejected our request due to an error in our request',
    ],
    [
      merge,
      [],
      400,
      'error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}',
    ],
    [
      merge,
      { metadata: { name: 'other' } },
      400,
      'the name of the object (other) does not match the name on the URL (patch)',
    ],
    [
      merge,
      { metadata: { namespace: 'b' } },
      400,
      'the namespace of the provided object does not match the namespace sent on the request',
    ],
    [merge, { metadata: { resourceVersion: 'abc' } }, 500, 'strconv.ParseUint: parsing "abc": invalid syntax'],
    [strategic, '[]', 400, 'json: cannot unmarshal array into Go value of type map[string]interface {}'],
    [
      strategic,
      { data: 'x' },
      422,
      ' "" is invalid: patch: Invalid value: "map[data:x]": cannot restore map from string',
    ],
    [{ 'content-type': 'text/plain' }, {}, 415, '415: Unsupported Media Type'],
  ])('rejects %j %j', async (headers, body, status, message) => {
    const answer = await server.send(`PATCH ${maps}/patch`, { headers, body })
    expect([answer.status, answer.body.message]).toEqual([status, message])
  })

  test('creates only by apply', async () => {
    expect((await server.send(`PATCH ${maps}/none`, { headers: merge, body: {} })).status).toBe(404)
    const applied = await server.send(`PATCH ${maps}/none?fieldManager=m`, {
      headers: apply,
      body: map('none', { data: { a: '1' } }),
    })
    expect([applied.status, applied.body.metadata.managedFields[0].fieldsV1]).toEqual([
      201,
      { 'f:data': { 'f:a': {} } },
    ])
  })

  test.each([
    [
      'requires a field manager',
      '',
      map('none'),
      422,
      'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch',
    ],
    [
      'requires YAML',
      '?fieldManager=m',
      'a: b: c',
      400,
      'error decoding YAML: error converting YAML to JSON: yaml: mapping values are not allowed in this context',
    ],
    [
      'reports conflicts',
      '?fieldManager=n',
      map('none', { data: { a: '2' } }),
      409,
      'Apply failed with 1 conflict: conflict with "m": .data.a',
    ],
  ])('apply %s', async (_, query, body, status, message) => {
    const answer = await server.send(`PATCH ${maps}/none${query}`, { headers: apply, body })
    expect([answer.status, answer.body.message]).toEqual([status, message])
  })
})

describe('patch with a result that does not fit the type', () => {
  const mismatch = (field: string, found: string): string =>
    `couldn't get version/kind; json parse error: json: cannot unmarshal ${found} into Go struct field .${field} of type string`

  test.each([
    [merge, { kind: {} }, mismatch('kind', 'object')],
    [merge, { apiVersion: { a: 1 } }, mismatch('apiVersion', 'object')],
    [jsonPatch, [{ op: 'replace', path: '/kind', value: [] }], mismatch('kind', 'array')],
    [jsonPatch, [{ op: 'replace', path: '/apiVersion', value: 5 }], mismatch('apiVersion', 'number')],
    [strategic, { kind: {} }, 'unrecognized type: string'],
  ])('%o rejects another type of kind or apiVersion: %j', async (headers, body, text) => {
    await server.send(`POST ${maps}`, { body: map('typed') })
    const answer = await server.send(`PATCH ${maps}/typed`, { headers, body })
    expect(answer.status).toBe(422)
    expect(answer.body.details.causes[0].message.endsWith(`: ${text}`)).toBe(true)
  })

  test.each([
    [{ spec: { '$setElementOrder/nope': [1] } }, 'DeploymentSpec'],
    [{ metadata: { '$setElementOrder/nope': [1] } }, 'ObjectMeta'],
    [{ spec: { template: { spec: { containers: [{ name: 'c', '$setElementOrder/nope': [] }] } } } }, 'Container'],
  ])('strategic merge names the struct that lacks a field: %j', async (body, struct) => {
    const deployments = '/apis/apps/v1/namespaces/a/deployments'
    const spec = { template: { spec: { containers: [{ name: 'c' }] } } }
    await server.send(`POST ${deployments}`, { body: { metadata: { name: 'struct' }, spec } })
    const answer = await server.send(`PATCH ${deployments}/struct`, { headers: strategic, body })
    const text = `unable to find api field in struct ${struct} for the json field "nope"`
    expect([answer.status, answer.body.message]).toEqual([500, text])
  })

  test('apply reports values that fit the schema but not the Go type', async () => {
    const body = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, data: { k: '***' } }
    const path = '/api/v1/namespaces/a/secrets/s?fieldManager=me'
    const answer = await server.send(`PATCH ${path}`, { headers: apply, body })
    expect([answer.status, answer.body.message]).toEqual([
      500,
      'failed to convert new object (/s; /v1, Kind=Secret) to proper version: unable to convert unstructured object to /v1, Kind=Secret: ' +
        'error decoding from json: illegal base64 data at input byte 0',
    ])
  })
})

describe('finalizers', () => {
  const text = 'name is neither a standard finalizer name nor is it fully qualified'
  const leases = '/apis/coordination.k8s.io/v1/namespaces/default/leases'

  test('must have a domain for most kinds, on create and on update', async () => {
    const refused = [
      expect.objectContaining({ field: 'metadata.finalizers[0]', message: expect.stringContaining(text) }),
    ]
    const named = await server.send(`POST ${maps}`, { body: map('f', { metadata: { name: 'f', finalizers: ['f'] } }) })
    expect([named.status, named.body.details.causes]).toEqual([422, refused])
    await server.send(`POST ${maps}`, { body: map('f') })
    const body = { metadata: { finalizers: ['f'] } }
    const patched = await server.send(`PATCH ${maps}/f`, { headers: merge, body })
    // The checks of create and of update each report the error.
    expect([patched.status, patched.body.details.causes]).toEqual([422, [...refused, ...refused]])
  })

  test('may lack a domain for kinds whose metadata only apimachinery validates, such as Lease', async () => {
    const body = { metadata: { name: 'f', finalizers: ['f'] } }
    expect((await server.send(`POST ${leases}`, { body })).status).toBe(201)
    const more = { metadata: { finalizers: ['f', 'g'] } }
    expect((await server.send(`PATCH ${leases}/f`, { headers: merge, body: more })).status).toBe(200)
    const odd = await server.send(`PATCH ${leases}/f`, { headers: merge, body: { metadata: { finalizers: ['a b'] } } })
    expect(odd.body.details.causes[0].message).toContain('name part must consist of alphanumeric characters')
  })
})

describe('delete', () => {
  test('keeps an object until its last finalizer is removed', async () => {
    await server.send(`POST ${maps}`, {
      body: map('kept', { metadata: { name: 'kept', finalizers: ['example.com/f'] } }),
    })
    const deleted = await server.send(`DELETE ${maps}/kept`)
    expect([deleted.status, deleted.body.metadata.deletionTimestamp]).toEqual([200, '2026-01-02T03:04:05Z'])
    const more = await server.send(`PATCH ${maps}/kept`, {
      headers: merge,
      body: { metadata: { finalizers: ['example.com/f', 'example.com/g'] } },
    })
    expect(more.body.message).toContain(
      'no new finalizers can be added if the object is being deleted, found new finalizers []string{"example.com/g"}',
    )
    expect(
      (await server.send(`PATCH ${maps}/kept`, { headers: merge, body: { metadata: { finalizers: null } } })).status,
    ).toBe(200)
    expect((await server.send(`GET ${maps}/kept`)).status).toBe(404)
  })

  test('rejects a failed precondition with a Conflict', async () => {
    await server.send(`POST ${maps}`, { body: map('guarded') })
    const answer = await server.send(`DELETE ${maps}/guarded`, { body: { preconditions: { uid: 'other' } } })
    expect([answer.status, answer.body.reason]).toEqual([409, 'Conflict'])
  })
})
