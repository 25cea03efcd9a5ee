import { CertificateAuthority } from '@kubewright/base/pki'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Listener, listen } from '../../http/listener/listener.ts'
import { createWebhookClient } from '../../outgoing/create-webhook-client.ts'
import { type LocalResponse, LocalServers } from '../../outgoing/local-servers.ts'
import { systemOutgoing } from '../../outgoing/outgoing.ts'
import { CrdServer, type Definition, definition, group, version, widget } from '../../testdata/crd-server.ts'
import { converterFor } from './webhook-converter.ts'

// biome-ignore lint/suspicious/noExplicitAny: the webhook looks into objects of every shape
type Json = any

const v1 = `${group}/v1`
const v2 = `${group}/v2`
const widgets = (of: string, name = ''): string => `/apis/${of}/namespaces/n/widgets${name && `/${name}`}`
const mergePatch = { 'content-type': 'application/merge-patch+json' }
const applyPatch = { 'content-type': 'application/apply-patch+yaml' }

/** The field is hostPort in v1 and host in v2. */
function converted(object: Json, apiVersion: string): Json {
  const { hostPort, host, ...spec } = object.spec ?? {}
  const moved = apiVersion === v2 ? { host: hostPort } : { hostPort: host }
  return { ...object, apiVersion, ...(object.spec ? { spec: { ...spec, ...moved } } : {}) }
}

/** A correct webhook, whose response tests can change. */
class Webhook {
  readonly reviews: Json[] = []
  /** Changes the converted objects. */
  change: (object: Json) => Json = (object) => object
  /** Changes the whole response. */
  answer: (review: Json) => LocalResponse | Promise<LocalResponse> = (review) => json(review)

  reset(): void {
    this.reviews.length = 0
    this.change = (object) => object
    this.answer = (review) => json(review)
  }

  async serve(body: Uint8Array): Promise<LocalResponse> {
    const review = JSON.parse(Buffer.from(body).toString())
    this.reviews.push(review)
    const { uid, desiredAPIVersion, objects } = review.request
    const convertedObjects = objects.map((object: Json) => this.change(converted(object, desiredAPIVersion)))
    const { kind, apiVersion } = review
    return this.answer({ kind, apiVersion, response: { uid, result: { status: 'Success' }, convertedObjects } })
  }
}

function json(value: unknown, status = 200): LocalResponse {
  return { status, headers: { 'content-type': ['application/json'] }, body: Buffer.from(JSON.stringify(value)) }
}

function text(body: string, status: number, headers: Record<string, readonly string[]> = {}): LocalResponse {
  return { status, headers: { 'content-type': ['text/plain'], ...headers }, body: Buffer.from(body) }
}

const now = Date.now()
const ca = CertificateAuthority.create({ commonName: 'hooks', now })

describe.each(['in process', 'over HTTPS'])('WebhookConverter %s', (transport) => {
  const webhook = new Webhook()
  let server: CrdServer
  let listener: Listener | undefined
  let address: string
  beforeAll(async () => {
    const local = new LocalServers()
    if (transport === 'in process') {
      address = 'https://127.0.0.1:9443/convert'
      local.serve('127.0.0.1:9443', ({ body }) => webhook.serve(body))
    } else {
      const { cert, key } = new CertificateAuthority(ca).issueServing({ now })
      const handler = async (request: { body: (limit: number) => Promise<Uint8Array> }) => {
        const { status, headers = {}, body } = await webhook.serve(await request.body(1e6))
        return { status, headers, body }
      }
      listener = await listen({ handler, cert, key, clientCas: [] })
      address = `https://127.0.0.1:${listener.port}/convert`
    }
    server = await CrdServer.start(undefined, (parts) => {
      const client = createWebhookClient(parts, { outgoing: local.before(systemOutgoing) })
      return { converterFor: (crd) => converterFor({ client, random: parts.random }, crd) }
    })
  })
  afterAll(async () => {
    await server[Symbol.asyncDispose]()
    await listener?.[Symbol.asyncDispose]()
  })
  beforeEach(async () => {
    webhook.reset()
    await server.send(`DELETE ${widgets(v1)}`)
    await server.define(twoVersions('v1'))
    webhook.reset()
  })

  function twoVersions(storage: string): Definition {
    const spec = (field: string) => ({
      type: 'object',
      properties: { [field]: { type: 'string' }, n: { type: 'integer' } },
    })
    const caBundle = Buffer.from(ca.cert).toString('base64')
    return definition(
      [
        version('v1', spec('hostPort'), { storage: storage === 'v1', subresources: { status: {} } }),
        version('v2', spec('host'), { storage: storage === 'v2', subresources: { status: {} } }),
      ],
      {
        conversion: {
          strategy: 'Webhook',
          webhook: { conversionReviewVersions: ['v1'], clientConfig: { url: address, caBundle } },
        },
      },
    )
  }
  const create = (name: string, of = v1, spec: object = { hostPort: 'h:1' }) =>
    server.send(`POST ${widgets(of)}`, { body: { ...widget(name, spec), apiVersion: of } })
  const stored = async (name: string): Promise<Json> => {
    const { store } = server.plain.server.parts.registry
    const { entry } = await store.get(`/registry/${group}/widgets/n/${name}`)
    return JSON.parse(Buffer.from(entry!.value).toString())
  }

  test('converts each object once for reads in another version', async () => {
    await create('a')
    await create('b')
    expect(webhook.reviews).toEqual([])
    const list = await server.send(`GET ${widgets(v2)}`)
    expect(list.body.items).toMatchObject([
      { apiVersion: v2, metadata: { name: 'a' }, spec: { host: 'h:1' } },
      { apiVersion: v2, metadata: { name: 'b' }, spec: { host: 'h:1' } },
    ])
    expect((await server.send(`GET ${widgets(v2, 'a')}`)).body.spec).toEqual({ host: 'h:1' })
    expect(webhook.reviews).toHaveLength(1)
    expect((await server.send(`GET ${widgets(v1, 'a')}`)).body.spec).toEqual({ hostPort: 'h:1' })
    expect(webhook.reviews).toHaveLength(1)
  })

  test('sends the same request as kube-apiserver', async () => {
    await create('a', v2, { host: 'h' })
    // The response contains the stored object, converted back.
    expect(webhook.reviews.map(({ request }) => request.desiredAPIVersion)).toEqual([v1, v2])
    const [{ request, ...rest }] = webhook.reviews
    expect(rest).toEqual({
      kind: 'ConversionReview',
      apiVersion: 'apiextensions.k8s.io/v1',
      response: { uid: '', convertedObjects: null, result: { metadata: {} } },
    })
    expect(request).toMatchObject({
      desiredAPIVersion: v1,
      objects: [{ apiVersion: v2, kind: 'Widget', metadata: { name: 'a', generation: 1 }, spec: { host: 'h' } }],
    })
    expect(request.uid).toMatch(/^[0-9a-f-]{36}$/)
    expect(request.objects[0].metadata).not.toHaveProperty('resourceVersion')
  })

  test('stores objects in the storage version and prunes fields that it does not have', async () => {
    webhook.change = (object) => ({ ...object, spec: { ...object.spec, unknown: 1 } })
    const answer = await create('a', v2, { host: 'h' })
    expect(answer.body).toMatchObject({ apiVersion: v2, spec: { host: 'h' } })
    expect(await stored('a')).toMatchObject({ apiVersion: v1, spec: { hostPort: 'h' } })
    const patched = await server.send(`PATCH ${widgets(v2, 'a')}`, { body: { spec: { n: 5 } }, headers: mergePatch })
    expect(patched.body).toMatchObject({ metadata: { generation: 2 }, spec: { host: 'h', n: 5 } })
    expect((await stored('a')).spec).toEqual({ hostPort: 'h', n: 5 })
  })

  test('accepts changes of labels and annotations only', async () => {
    await create('a')
    webhook.change = (object) => ({
      ...object,
      metadata: { ...object.metadata, labels: { in: 'v2' }, finalizers: ['x/y'], generation: 9, resourceVersion: '1' },
    })
    const before = (await server.send(`GET ${widgets(v1, 'a')}`)).body.metadata
    expect((await server.send(`GET ${widgets(v2, 'a')}`)).body.metadata).toEqual({ ...before, labels: { in: 'v2' } })
    const chosen = await server.send(`GET ${widgets(v2)}?labelSelector=in%3Dv2`)
    expect(chosen.body.items).toHaveLength(1)
    expect((await server.send(`GET ${widgets(v1)}?labelSelector=in%3Dv2`)).body.items).toHaveLength(0)
  })

  test('converts the events of a watch', async () => {
    const watch = await server.plain.watch(`${widgets(v2)}?watch=1`)
    await create('a')
    await server.send(`PATCH ${widgets(v1, 'a')}`, { body: { spec: { hostPort: 'h:2' } }, headers: mergePatch })
    await server.send(`DELETE ${widgets(v1, 'a')}`)
    const known = (): Json[] => watch.events.filter(({ type }) => type !== 'BOOKMARK')
    await server.until(`GET ${widgets(v1)}`, () => known().length >= 3)
    watch.stop()
    expect(known().map(({ type, object }) => [type, object.apiVersion, object.spec])).toEqual([
      ['ADDED', v2, { host: 'h:1' }],
      ['MODIFIED', v2, { host: 'h:2' }],
      ['DELETED', v2, { host: 'h:2' }],
    ])
  })

  test('ends a watch with an error when an object cannot be converted', async () => {
    await create('a')
    webhook.answer = (review) =>
      json({ ...review, response: { ...review.response, result: { status: 'Failed', message: 'no' } } })
    const watch = await server.plain.watch(`${widgets(v2)}?watch=1`)
    await watch.done
    const message = `conversion webhook for ${v1}, Kind=Widget failed: no`
    expect(watch.events).toMatchObject([{ type: 'ERROR', object: { kind: 'Status', code: 500, message } }])
  })

  test('applies across versions and compares fields in the version of their manager', async () => {
    const body = (of: string, spec: object) => JSON.stringify({ ...widget('a', spec), apiVersion: of })
    const apply = (of: string, manager: string, spec: object) =>
      server.send(`PATCH ${widgets(of, 'a')}?fieldManager=${manager}`, { body: body(of, spec), headers: applyPatch })
    expect((await apply(v1, 'alice', { hostPort: 'h' })).status).toBe(201)
    const conflict = await apply(v2, 'bob', { host: 'other' })
    expect(conflict.body.message).toBe('Apply failed with 1 conflict: conflict with "alice": .spec.hostPort')
    const shared = await apply(v2, 'bob', { n: 1 })
    expect(shared.body).toMatchObject({ apiVersion: v2, spec: { host: 'h', n: 1 } })
    expect(shared.body.metadata.managedFields).toMatchObject([
      { manager: 'alice', apiVersion: v1, fieldsV1: { 'f:spec': { 'f:hostPort': {} } } },
      { manager: 'bob', apiVersion: v2, fieldsV1: { 'f:spec': { 'f:n': {} } } },
    ])
  })

  test('reads objects of an older storage version and migrates them by a write without changes', async () => {
    await create('a')
    await server.define(twoVersions('v2'))
    expect((await server.send(`GET ${widgets(v2, 'a')}`)).body.spec).toEqual({ host: 'h:1' })
    const { body } = await server.send(`GET ${widgets(v1, 'a')}`)
    expect(body.spec).toEqual({ hostPort: 'h:1' })
    const moved = await server.send(`PUT ${widgets(v1, 'a')}`, { body })
    expect(moved.status).toBe(200)
    expect(moved.body.metadata.resourceVersion).not.toBe(body.metadata.resourceVersion)
    expect(moved.body.metadata.generation).toBe(1)
    expect(await stored('a')).toMatchObject({ apiVersion: v2, spec: { host: 'h:1' } })
  })

  const response = (more: object) => (review: Json) => json({ ...review, response: { ...review.response, ...more } })
  const object = (more: object) => (review: Json) => {
    const [first] = review.response.convertedObjects
    return response({ convertedObjects: [{ ...first, ...more }] })(review)
  }
  const missingType =
    'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'
  test.each<[string, (review: Json) => LocalResponse, string | RegExp]>([
    ['a refusal', response({ result: { status: 'Failed', message: 'I cannot' } }), ' failed: I cannot'],
    ['no reason', response({ result: {} }), " failed: response.result.status was '', not 'Success'"],
    ['a wrong uid', response({ uid: 'x' }), /^ failed: expected response.uid="[0-9a-f-]+", got "x"$/],
    ['no response', ({ kind, apiVersion }) => json({ kind, apiVersion }), ' failed: no response provided'],
    [
      'no type',
      ({ response: given }) => json({ response: given }),
      /^ failed: expected webhook response of .* got \/, Kind=$/,
    ],
    [
      'garbage',
      () => text('<html>', 200),
      ` failed: couldn't get version/kind; json parse error: json: cannot unmarshal string into Go value of type ${missingType}`,
    ],
    ['nothing', () => text('', 200), ' failed: 0-length response with status code: 200 and content type: text/plain'],
    [
      'an error',
      () => text('boom', 500),
      ' failed: an error on the server ("boom") has prevented the request from succeeding',
    ],
    [
      'a redirect',
      () => text('', 302, { location: ['https://example.com/'] }),
      ' failed: the server responded with the status code 302 but did not return more information',
    ],
    ['too few objects', response({ convertedObjects: [] }), ' returned 0 objects, expected 1'],
    [
      'another version',
      object({ apiVersion: 'x/v9' }),
      ` returned invalid object at index 0: invalid groupVersion (expected ${v2}, received x/v9)`,
    ],
    [
      'another kind',
      object({ kind: 'Other' }),
      ' returned invalid object at index 0: invalid kind (expected Widget, received Other)',
    ],
    [
      'another name',
      object({ metadata: { name: 'b', namespace: 'n' } }),
      ' returned invalid object: must have the same name: a != b',
    ],
    ['no metadata', object({ metadata: undefined }), ' returned invalid object: must have the same name: a != '],
  ])('reports %s', async (_, answer, problem) => {
    await create('a')
    webhook.answer = answer
    const { status, body } = await server.send(`GET ${widgets(v2, 'a')}`)
    expect([status, body.reason]).toEqual([500, undefined])
    const subject = `conversion webhook for ${v1}, Kind=Widget`
    expect(body.message.slice(0, subject.length)).toBe(subject)
    if (typeof problem === 'string') expect(body.message.slice(subject.length)).toBe(problem)
    else expect(body.message.slice(subject.length)).toMatch(problem)
    webhook.reset()
    expect((await server.send(`GET ${widgets(v2, 'a')}`)).status).toBe(200)
  })

  test('reports a missing service', async () => {
    await create('a')
    const wanted = twoVersions('v1')
    const service = { namespace: 'n', name: 'nosuch', path: '/conv', port: 443 }
    const conversion = {
      strategy: 'Webhook',
      webhook: { conversionReviewVersions: ['v1'], clientConfig: { service } },
    }
    await server.define({ ...wanted, spec: { ...wanted.spec, conversion } })
    expect((await server.send(`GET ${widgets(v2, 'a')}`)).body.message).toBe(
      `conversion webhook for ${v1}, Kind=Widget failed: Post "https://nosuch.n.svc:443/conv?timeout=30s": service "nosuch" not found`,
    )
  })

  test('times out after thirty seconds', async () => {
    await create('a')
    let asked = (): void => undefined
    const hanging = new Promise<void>((resolve) => {
      asked = resolve
    })
    webhook.answer = () => {
      asked()
      return new Promise(() => undefined)
    }
    const answer = server.send(`GET ${widgets(v2, 'a')}`)
    await hanging
    await server.plain.clock.advance(30_000)
    expect((await answer).body.message).toBe(
      `conversion webhook for ${v1}, Kind=Widget failed: Post "${address}?timeout=30s": context deadline exceeded`,
    )
  })
})
