import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { CrdServer, crds, definition, group, version, widget } from '../../testdata/crd-server.ts'
import type { PlainAnswer } from '../../testdata/plain-server.ts'

let server: CrdServer
beforeAll(async () => {
  server = await CrdServer.start()
})
afterAll(() => server[Symbol.asyncDispose]())

const one = `${crds}/widgets.${group}`
const widgets = `/apis/${group}/v1/namespaces/a/widgets`
const merge = { 'content-type': 'application/merge-patch+json' }
const apply = { 'content-type': 'application/apply-patch+yaml' }
const spec = {
  type: 'object',
  required: ['n'],
  properties: {
    n: { type: 'integer', minimum: 1 },
    color: { type: 'string', default: 'red' },
    replicas: { type: 'integer' },
    o: { type: 'object', properties: { x: { type: 'string' } } },
  },
}

beforeEach(async () => {
  await server.send(`DELETE ${one}`)
  await server.until(`GET ${one}`, ({ status }) => status === 404)
})

function create(name: string, value: unknown, query = ''): Promise<PlainAnswer> {
  return server.send(`POST ${widgets}${query}`, { body: widget(name, value) })
}

describe('customResources()', () => {
  test('prunes and defaults objects, and responds with what is stored', async () => {
    await server.define(definition(spec))
    const created = await create('a', { n: 1, nope: 2 })
    expect(created.status).toBe(201)
    expect(created.headers['warning']).toEqual(['299 - "unknown field \\"spec.nope\\""'])
    expect(created.body.spec).toEqual({ n: 1, color: 'red' })
    expect(created.body.metadata.generation).toBe(1)
    expect((await server.send(`GET ${widgets}/a`)).text).toBe(created.text)
  })

  test.each([
    ['a missing field', { o: {} }, 'spec.n: Required value'],
    [
      'a number that is too small',
      { n: 0 },
      'spec.n: Invalid value: 0: spec.n in body should be greater than or equal to 1',
    ],
    ['a wrong type', { n: 'x' }, 'spec.n: Invalid value: "string": spec.n in body must be of type integer: "string"'],
  ])('rejects %s', async (_, value, text) => {
    await server.define(definition(spec))
    const refused = await create('a', value)
    expect(refused.status).toBe(422)
    expect(refused.body.message).toBe(`Widget.${group} "a" is invalid: ${text}`)
  })

  test.each<[string, { metadata?: unknown; kind?: string; apiVersion: string }, string]>([
    [
      'another kind',
      { kind: 'Gadget', apiVersion: `${group}/v1` },
      `Gadget.${group} "a" is invalid: kind: Invalid value: "Gadget": must be Widget`,
    ],
    [
      'another version',
      { kind: 'Widget', apiVersion: `${group}/v9` },
      `the API version in the data (${group}/v9) does not match the expected API version (${group}/v1)`,
    ],
    [
      'malformed metadata',
      { kind: 'Widget', apiVersion: `${group}/v1`, metadata: { name: 5 } },
      'Widget in version "v1" cannot be handled as a Widget: json: cannot unmarshal number into Go struct field ObjectMeta.name of type string',
    ],
    [
      'no kind',
      { apiVersion: 'v1' },
      `the object provided is unrecognized (must be of type Widget): Object 'Kind' is missing in '{"apiVersion":"v1","metadata":{"name":"a"}}' ({"apiVersion":"v1","metadata": ...)`,
    ],
  ])('rejects a body with %s', async (_, { metadata = { name: 'a' }, ...body }, text) => {
    await server.define(definition(spec))
    const refused = await server.send(`POST ${widgets}`, { body: { ...body, metadata } })
    expect(refused.body.message).toBe(text)
  })

  test('rejects unknown fields with strict validation', async () => {
    await server.define(definition(spec))
    const refused = await create('a', { n: 1, nope: 2 }, '?fieldValidation=Strict')
    expect(refused.body.message).toBe(
      'Widget in version "v1" cannot be handled as a Widget: strict decoding error: unknown field "spec.nope"',
    )
    const quiet = await create('a', { n: 1, nope: 2 }, '?fieldValidation=Ignore')
    expect(quiet.headers['warning']).toBeUndefined()
  })

  test.each([{ kind: {} }, { apiVersion: {} }])('rejects the patch %j with the text of Go', async (body) => {
    await server.define(definition(spec))
    await create('a', { n: 1 })
    const refused = await server.send(`PATCH ${widgets}/a`, { headers: merge, body })
    const text = `cannot unmarshal object into Go struct field .${Object.keys(body)[0]} of type string`
    expect(refused.status).toBe(422)
    expect(refused.body.message).toContain(`: couldn't get version/kind; json parse error: json: ${text}`)
  })

  test('drops the cache after its CRD was deleted and its watches have ended', async () => {
    await server.define(definition(spec))
    const { feed } = server.plain.server.parts.registry
    const prefix = `/registry/${group}/widgets/`
    const cache = await feed.cache(prefix)
    await server.send(`DELETE ${one}`)
    await server.until(`GET ${one}`, ({ status }) => status === 404)
    await server.plain.clock.advance(1000)
    expect(await feed.cache(prefix)).not.toBe(cache)
  })

  test('does not write an object that differs only in the order of fields', async () => {
    await server.define(definition(spec))
    const { body } = await create('a', { n: 1, o: { x: 'y' } })
    const same = { spec: { o: { x: 'y' }, color: 'red', n: 1 }, metadata: body.metadata, kind: body.kind }
    const put = await server.send(`PUT ${widgets}/a`, { body: { ...same, apiVersion: body.apiVersion } })
    expect(put.body.metadata.resourceVersion).toBe(body.metadata.resourceVersion)
  })

  test('increments the generation for changes outside metadata and status', async () => {
    const status = { subresources: { status: {} } }
    await server.define(definition([version('v1', spec, status)]))
    await create('a', { n: 1 })
    const generation = async (path: string, body: unknown): Promise<number> =>
      (await server.send(`PATCH ${widgets}/a${path}`, { body, headers: merge })).body.metadata.generation
    expect(await generation('', { metadata: { labels: { a: 'b' } } })).toBe(1)
    expect(await generation('', { status: { ok: true } })).toBe(1)
    expect(await generation('/status', { status: { ok: true }, spec: { n: 7 } })).toBe(1)
    expect(await generation('', { spec: { n: 2 } })).toBe(2)
    expect((await server.send(`GET ${widgets}/a`)).body).toMatchObject({ spec: { n: 2 }, status: { ok: true } })
  })

  test('applies new defaults and prunes removed fields of stored objects', async () => {
    await server.define(definition(spec))
    await create('a', { n: 1, o: { x: 'y' } })
    const { o: _, ...rest } = spec.properties
    await server.define(definition({ ...spec, properties: { ...rest, late: { type: 'string', default: 'here' } } }))
    const { body } = await server.send(`GET ${widgets}/a`)
    expect(body.spec).toEqual({ n: 1, color: 'red', late: 'here' })
    const list = await server.send(`GET ${widgets}`)
    expect(list.body.items[0].spec).toEqual(body.spec)
    const watch = await server.plain.watch(`${widgets}?watch=1`)
    await server.until(`GET ${widgets}/a`, () => watch.events.length > 0)
    expect(watch.events[0]?.object.spec).toEqual(body.spec)
    watch.stop()
    await watch.done
  })

  test('serves every version and stores the storage version', async () => {
    const versions = [version('v1', spec), version('v2', spec)]
    await server.define(definition(versions))
    await create('a', { n: 1 })
    const v2 = widgets.replace('/v1/', '/v2/')
    expect((await server.send(`GET ${v2}/a`)).body.apiVersion).toBe(`${group}/v2`)
    expect((await server.send(`GET ${v2}`)).body.items[0].apiVersion).toBe(`${group}/v2`)
    const before = (await server.send(`GET ${v2}/a`)).body.metadata.resourceVersion
    await server.define(definition(versions.map((each) => ({ ...each, storage: each.name === 'v2' }))))
    const noop = await server.send(`PATCH ${widgets}/a`, { body: {}, headers: merge })
    expect(noop.body.apiVersion).toBe(`${group}/v1`)
    expect(noop.body.metadata.resourceVersion).not.toBe(before)
    const { store } = server.plain.server.parts.registry
    const { entry } = await store.get(`/registry/${group}/widgets/a/a`)
    expect(JSON.parse(Buffer.from(entry!.value).toString()).apiVersion).toBe(`${group}/v2`)
  })

  test('sets the defaults of the storage version, also in a dry run', async () => {
    const late = { ...spec, properties: { ...spec.properties, late: { type: 'string' } } }
    const filled = { ...spec, properties: { ...spec.properties, late: { type: 'string', default: 'here' } } }
    await server.define(definition([version('v1', filled), version('v2', late)]))
    const v2 = widgets.replace('/v1/', '/v2/')
    const body = { ...widget('a', { n: 1 }), apiVersion: `${group}/v2` }
    const { body: dry } = await server.send(`POST ${v2}?dryRun=All`, { body })
    expect(dry).toMatchObject({ apiVersion: `${group}/v2`, spec: { n: 1, color: 'red', late: 'here' } })
    expect((await server.send(`POST ${v2}`, { body })).body.spec).toEqual(dry.spec)
  })

  test('does not set defaults when an apply changes no value', async () => {
    const late = { ...spec, properties: { ...spec.properties, late: { type: 'string', default: 'here' } } }
    await server.define(definition([version('v1', spec), version('v2', late)]))
    await create('a', { n: 1 })
    const v2 = widgets.replace('/v1/', '/v2/')
    const applied = async (value: object): Promise<PlainAnswer> =>
      server.send(`PATCH ${v2}/a?fieldManager=me`, {
        body: { apiVersion: `${group}/v2`, kind: 'Widget', metadata: { name: 'a' }, spec: value },
        headers: apply,
      })
    const same = await applied({ n: 1 })
    expect(same.body).toMatchObject({ metadata: { generation: 1 }, spec: { n: 1, color: 'red' } })
    expect(same.body.spec.late).toBeUndefined()
    expect(same.body.metadata.managedFields[0]).toMatchObject({ manager: 'me', operation: 'Apply' })
    expect((await applied({ n: 1, o: {} })).body.metadata.generation).toBe(2)
  })

  test('refuses to apply another kind to a scale before it looks for owners', async () => {
    const scale = { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.ready' }
    await server.define(definition([version('v1', spec, { subresources: { status: {}, scale } })]))
    await create('a', { n: 1, replicas: 1 })
    const body = { ...widget('a', { n: 1 }), apiVersion: `${group}/v1`, kind: 'Widget' }
    const { status, body: answer } = await server.send(`PATCH ${widgets}/a/scale?fieldManager=me`, {
      body,
      headers: apply,
    })
    expect([status, answer.message]).toEqual([400, `invalid object type: ${group}/v1, Kind=Widget`])
  })

  test('scales by the paths of the CRD', async () => {
    const scale = { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.ready' }
    await server.define(definition([version('v1', spec, { subresources: { status: {}, scale } })]))
    await create('a', { n: 1 })
    const missing = await server.send(`GET ${widgets}/a/scale`)
    expect(missing.body.message).toBe(
      'Internal error occurred: the spec replicas field ".spec.replicas" does not exist',
    )
    const put = await server.send(`PATCH ${widgets}/a/scale`, { body: { spec: { replicas: 4 } }, headers: merge })
    expect(put.body).toMatchObject({ kind: 'Scale', spec: { replicas: 4 }, status: { replicas: 0 } })
    expect((await server.send(`GET ${widgets}/a`)).body.spec.replicas).toBe(4)
    const negative = await server.send(`PATCH ${widgets}/a/scale`, { body: { spec: { replicas: -1 } }, headers: merge })
    expect(negative.body.message).toBe(
      `Widget.${group} "a" is invalid: .spec.replicas: Invalid value: -1: should be a non-negative integer`,
    )
  })

  test('selects by the selectable fields of the CRD', async () => {
    await server.define(definition([version('v1', spec, { selectableFields: [{ jsonPath: '.spec.color' }] })]))
    await create('a', { n: 1 })
    await create('b', { n: 1, color: 'blue' })
    const { body } = await server.send(`GET ${widgets}?fieldSelector=spec.color%3Dblue`)
    expect(body.items.map((item: { metadata: { name: string } }) => item.metadata.name)).toEqual(['b'])
    const refused = await server.send(`GET ${widgets}?fieldSelector=spec.n%3D1`)
    expect(refused.body.message).toBe('field label not supported: spec.n')
  })

  test('applies with the list types of the schema', async () => {
    await server.define(definition(spec))
    const config = { ...widget('a', { n: 1 }) }
    const line = `PATCH ${widgets}/a?fieldManager=alice`
    const created = await server.send(line, { body: config, headers: apply })
    expect(created.status).toBe(201)
    expect(created.body.metadata.managedFields[0]).toMatchObject({
      manager: 'alice',
      fieldsV1: { 'f:spec': { 'f:n': {} } },
    })
    const unknown = await server.send(line, { body: widget('a', { n: 1, nope: 1 }), headers: apply })
    expect(unknown.body.message).toContain('.spec.nope: field not declared in schema')
  })

  test('requires a resource version for updates', async () => {
    await server.define(definition(spec))
    await create('a', { n: 1 })
    const refused = await server.send(`PUT ${widgets}/a`, { body: widget('a', { n: 2 }) })
    expect(refused.body.message).toBe(
      `widgets.${group} "a" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update`,
    )
  })

  test('warns about deprecated versions and finalizers without a domain', async () => {
    await server.define(
      definition([version('v1', spec, { deprecated: true }), version('v2', spec), version('v1beta1', spec)]),
    )
    const body = { ...widget('a', { n: 1 }), metadata: { name: 'a', finalizers: ['wait'] } }
    const created = await server.send(`POST ${widgets}`, { body })
    expect(created.headers['warning']).toEqual([
      `299 - "${group}/v1 Widget is deprecated; use ${group}/v2 Widget"`,
      '299 - "metadata.finalizers: \\"wait\\": prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers"',
    ])
    await server.send(`PATCH ${widgets}/a`, { body: { metadata: { finalizers: null } }, headers: merge })
  })

  test('negotiates media types without the router of built-in kinds', async () => {
    await server.define(definition(spec))
    const types = 'application/json, application/yaml, application/vnd.kubernetes.protobuf'
    for (const path of [widgets, `${widgets}?watch=1`]) {
      const { body } = await server.send(`GET ${path}`, { headers: { accept: 'text/html' } })
      expect(body.message).toBe(`only the following media types are accepted: ${types}`)
    }
    const { body } = await server.send(`GET ${widgets}`, { headers: { accept: 'application/*' } })
    expect(body.kind).toBe('WidgetList')
  })

  test('rejects watches as YAML, even if JSON is accepted too', async () => {
    await server.define(definition(spec))
    const accept = 'application/yaml, application/json'
    expect((await server.send(`GET ${widgets}?watch=1`, { headers: { accept } })).status).toBe(406)
  })

  test('quotes owner references in the field order of Go', async () => {
    await server.define(definition(spec))
    const owner = (uid: string) => ({ uid, name: 'n', kind: 'K', controller: true, apiVersion: 'g/v1' })
    const metadata = { name: 'a', ownerReferences: [owner('u'), owner('v')] }
    const { body } = await server.send(`POST ${widgets}`, { body: widget('a', { n: 1 }, { metadata }) })
    const quoted = ['u', 'v'].map(
      (uid) => `{"apiVersion":"g/v1","kind":"K","name":"n","uid":"${uid}","controller":true}`,
    )
    expect(body.message).toContain(`metadata.ownerReferences: Invalid value: [${quoted.join()}]: Only one reference`)
  })

  test('does not evaluate rules of objects without a name', async () => {
    const rules = [{ rule: 'self.n < 5', message: 'too much' }]
    await server.define(definition({ ...spec, 'x-kubernetes-validations': rules }))
    const { body } = await create(undefined as never, { n: 9 })
    expect(body.details.causes.map(({ message }: { message: string }) => message)).toEqual([
      'Required value: name or generateName is required',
      'Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
    ])
  })

  test('keeps its resource version when empty annotations are applied', async () => {
    await server.define(definition(spec))
    await create('a', { n: 1 })
    const patched = await server.send(`PATCH ${widgets}/a`, { body: { apiVersion: null }, headers: merge })
    expect(patched.body.message).toBe(
      "Internal error occurred: Object 'apiVersion' is missing in 'object has no apiVersion field'",
    )
    const body = widget('a', { n: 1 }, { metadata: { name: 'a', annotations: { c: null } } })
    const applied = await server.send(`PATCH ${widgets}/a?fieldManager=m&force=true`, { body, headers: apply })
    expect(applied.body.metadata.annotations).toEqual({ c: '' })
  })

  test('rejects numbers outside the range of float64', async () => {
    await server.define(definition(spec))
    const body = JSON.stringify(widget('a', { n: 0 })).replace('"n":0', '"n":1e400')
    expect((await server.send(`POST ${widgets}`, { body })).body.message).toBe(
      'Widget in version "v1" cannot be handled as a Widget: json: cannot unmarshal number 1e400 into Go value of type float64',
    )
  })

  test('responds with NotFound or MethodNotAllowed for unknown subresources and methods', async () => {
    await server.define(definition([version('v1', spec, { subresources: { status: {} } })]))
    await create('a', { n: 1 })
    expect((await server.send(`GET ${widgets}/a/scale`)).body.message).toBe(`widgets.${group} "a" not found`)
    expect((await server.send(`DELETE ${widgets}/a/status`)).body.message).toBe(
      `delete is not supported on resources of kind "widgets.${group}"`,
    )
    expect((await server.send(`PUT ${widgets}`, { body: {} })).body.message).toBe('name must be provided')
    expect((await server.send(`POST ${widgets}/b`, { body: widget('c', { n: 1 }) })).body.metadata.name).toBe('c')
    expect((await server.send(`GET /apis/${group}/v1/widgets/a`)).text).toBe('404 page not found\n')
    expect((await server.send(`GET /apis/${group}/v1/gadgets`)).text).toBe('404 page not found\n')
  })
})
