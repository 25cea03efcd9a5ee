import { defineResource, newNotFound } from '@kubewright/api'
import { type MetricLabels, type MetricSink, memoryLogger, VirtualClock } from '@kubewright/base'
import { s } from '@kubewright/schema'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { defineWebhook, type Review, type WebhookOptions } from '../define/define-webhook.ts'
import { duplicate, forbidden, invalid, notSupported, required, warning } from '../define/issue.ts'
import { homeConversion, Home as Versioned } from './conversion/testdata/home.ts'
import { createWebhookHandler } from './create-webhook-handler.ts'
import { type Answer, asker, noClient } from './testdata/ask.ts'

const Home = defineResource({
  group: 'ajd.example.com',
  version: 'v1',
  kind: 'Home',
  spec: s.object({
    image: s.string(),
    replicas: s.int().default(1),
    domain: s.string().optional(),
    ports: s.array(s.object({ name: s.string() })).optional(),
  }),
})
type HomeOptions = WebhookOptions<(typeof Home)['$read'], (typeof Home)['$write']>

const kind = { group: 'ajd.example.com', version: 'v1', kind: 'Home' }
const object = {
  apiVersion: 'ajd.example.com/v1',
  kind: 'Home',
  metadata: { name: 'cosy', namespace: 'default' },
  spec: { image: 'nginx', replicas: 1, ports: [{ name: 'http' }] },
}
const mutate = '/mutate-ajd-example-com-v1-home'
const validate = '/validate-ajd-example-com-v1-home'

function ask(path: string, options: HomeOptions, request: object = {}, apiVersion?: string): Promise<Answer> {
  const created = { uid: 'u-1', kind, operation: 'CREATE', name: 'cosy', namespace: 'default', object }
  return asker({ webhooks: [defineWebhook(Home, options)] }).ask(path, { ...created, ...request }, apiVersion)
}

describe('defaulting', () => {
  test('patches exactly the changes', async () => {
    const { status, body, patch } = await ask(mutate, {
      default(home) {
        home.spec.domain ??= `${home.metadata.name}.example.com`
        delete home.spec.ports
      },
    })
    expect(status).toBe(200)
    expect(body).toMatchObject({
      kind: 'AdmissionReview',
      apiVersion: 'admission.k8s.io/v1',
      response: { uid: 'u-1', allowed: true, status: { metadata: {}, code: 200 }, patchType: 'JSONPatch' },
    })
    expect(patch).toEqual([
      { op: 'remove', path: '/spec/ports' },
      { op: 'add', path: '/spec/domain', value: 'cosy.example.com' },
    ])
  })

  test('sends no patch when nothing changed', async () => {
    const { body } = await ask(mutate, { default: () => undefined })
    expect(body.response).toEqual({ uid: 'u-1', allowed: true, status: { metadata: {}, code: 200 } })
  })

  test('passes a spec even when the user omitted it, and adds none that stays empty', async () => {
    const without = { object: { ...object, spec: undefined } }
    const filled = await ask(mutate, { default: (home) => void (home.spec.image ??= 'nginx') }, without)
    expect(filled.patch).toEqual([{ op: 'add', path: '/spec', value: { image: 'nginx' } }])
    const empty = await ask(mutate, { default: (home) => void home.spec }, without)
    expect(empty.body.response.patch).toBeUndefined()
  })

  test('is not called for deletions', async () => {
    const request = { operation: 'DELETE', object: null, oldObject: object }
    const { body } = await ask(mutate, { default: () => Promise.reject(new Error('never')) }, request)
    expect(body.response.allowed).toBe(true)
  })

  test('preserves integers beyond double precision', async () => {
    const { post } = asker({ webhooks: [defineWebhook(Home, { default: (home) => void (home.spec.domain = 'x') })] })
    const review = `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u","operation":"CREATE","object":{"metadata":{"name":"a"},"spec":{"big":9007199254740993}}}}`
    expect((await post(mutate, review)).patch).toEqual([{ op: 'add', path: '/spec/domain', value: 'x' }])
  })

  test('rejects the request with the message of a thrown error', async () => {
    const { body } = await ask(mutate, { default: () => Promise.reject(new Error('no defaults today')) })
    expect(body.response).toEqual({
      uid: 'u-1',
      allowed: false,
      status: { metadata: {}, code: 403, reason: 'Forbidden', message: 'no defaults today' },
    })
  })
})

describe('validation', () => {
  test("converts issues to an Invalid response like the API server's own", async () => {
    const { body } = await ask(validate, {
      validate: () => [
        duplicate('spec.domain', 'taken.example.com'),
        invalid('spec.replicas', 'must be even'),
        forbidden('metadata.labels', 'may not be set'),
        required('spec.domain', 'is needed'),
        notSupported('spec.image', ['a', 'b']),
        invalid('spec.ports[0].name', 'is too plain'),
        null,
        false,
        undefined,
      ],
    })
    expect(body.response).toEqual({
      uid: 'u-1',
      allowed: false,
      status: {
        metadata: {},
        status: 'Failure',
        code: 422,
        reason: 'Invalid',
        message:
          'Home.ajd.example.com "cosy" is invalid: [spec.domain: Duplicate value: "taken.example.com", ' +
          'spec.replicas: Invalid value: 1: must be even, metadata.labels: Forbidden: may not be set, ' +
          'spec.domain: Required value: is needed, ' +
          'spec.image: Unsupported value: "nginx": supported values: "a", "b", ' +
          'spec.ports[0].name: Invalid value: "http": is too plain]',
        details: expect.objectContaining({
          name: 'cosy',
          group: 'ajd.example.com',
          kind: 'Home',
          causes: expect.arrayContaining([
            {
              reason: 'FieldValueDuplicate',
              message: 'Duplicate value: "taken.example.com"',
              field: 'spec.domain',
            },
          ]),
        }),
      },
    })
  })

  test('returns warnings with allowed and rejected requests', async () => {
    const warn = warning('spec.replicas', 'one is few')
    const admitted = await ask(validate, { validate: () => [warn] })
    expect(admitted.body.response).toEqual({
      uid: 'u-1',
      allowed: true,
      status: { metadata: {}, code: 200 },
      warnings: ['spec.replicas: one is few'],
    })
    const refused = await ask(validate, { validate: () => [warn, invalid('spec.image', 'is bad')] })
    expect(refused.body.response).toMatchObject({ allowed: false, warnings: ['spec.replicas: one is few'] })
  })

  test('returns the Status of an ApiError, also as a cause', async () => {
    const gone = newNotFound({ group: '', resource: 'pods' }, 'x')
    for (const error of [gone, new Error('looking', { cause: gone })]) {
      const { body } = await ask(validate, { validate: () => Promise.reject(error) })
      expect(body.response.status).toMatchObject({ code: 404, reason: 'NotFound', message: 'pods "x" not found' })
    }
  })

  test('responds with Forbidden to other errors', async () => {
    const { body } = await ask(validate, { validate: () => Promise.reject(new Error('because')) })
    expect(body.response).toMatchObject({
      uid: 'u-1',
      allowed: false,
      status: { code: 403, reason: 'Forbidden', message: 'because' },
    })
  })

  test('responds to programming errors with 500 and the uid', async () => {
    const log = memoryLogger()
    const slip = defineWebhook(Home, { validate: (home) => [invalid('spec.domain', home.spec.domain!.trim())] })
    const { body } = await asker({ webhooks: [slip], log }).ask(validate, { uid: 'u-2', operation: 'CREATE', object })
    expect(body.response).toEqual({
      uid: 'u-2',
      allowed: false,
      status: { metadata: {}, code: 500, message: expect.stringMatching(/^panic: Cannot read .* \[recovered\]$/) },
    })
    expect(log.records.find((record) => 'error' in record)?.message).toBe('Observed a panic')
  })

  test('passes frozen objects', async () => {
    const { body } = await ask(validate, {
      validate: (home) => {
        ;(home as { spec: { image: string } }).spec.image = 'other'
        return []
      },
    })
    expect(body.response.status.message).toMatch(/^panic: Cannot assign to read only property/)
  })

  test('passes all details of the request', async () => {
    let seen: Review<unknown> | undefined
    const old = { ...object, spec: { ...object.spec, replicas: 2 } }
    await ask(
      validate,
      {
        validate: (_, review) => {
          seen = review
          return []
        },
      },
      {
        operation: 'UPDATE',
        oldObject: old,
        dryRun: true,
        options: { kind: 'UpdateOptions', fieldManager: 'me' },
        userInfo: { username: 'jane', groups: ['devs'], uid: '7', extra: { a: ['b'] } },
      },
    )
    expect(seen).toMatchObject({
      operation: 'UPDATE',
      old,
      dryRun: true,
      options: { fieldManager: 'me' },
      namespace: 'default',
      user: { name: 'jane', groups: ['devs'], uid: '7', extra: { a: ['b'] } },
      client: noClient,
    })
  })

  test('validates deletions with the old object, by validateDelete or else by validate', async () => {
    const request = { operation: 'DELETE', object: null, oldObject: object }
    const refuse = (text: string) => () => [forbidden('metadata.name', text)]
    const message = async (options: HomeOptions) => (await ask(validate, options, request)).body.response.status.message
    expect(await message({ validateDelete: refuse('stays') })).toMatch('metadata.name: Forbidden: stays')
    expect(await message({ validate: refuse('v'), validateDelete: refuse('d') })).toMatch('Forbidden: d')
    expect(await message({ validate: refuse('v'), operations: ['DELETE'] })).toMatch('Forbidden: v')
  })

  test('allows operations that it does not handle', async () => {
    const { body } = await ask(validate, { validate: () => [invalid('spec', 'never')] }, { operation: 'CONNECT' })
    expect(body.response).toEqual({ uid: 'u-1', allowed: true, status: { metadata: {}, code: 200 } })
  })

  test('rejects objects of another kind, naming the fix', async () => {
    const request = { kind: { group: 'ajd.example.com', version: 'v2', kind: 'Home' } }
    const { body } = await ask(validate, { validate: () => [] }, request)
    expect(body.response.status).toMatchObject({ code: 400, message: expect.stringContaining('correct the rules') })
  })
})

describe('createWebhookHandler()', () => {
  const webhooks = [defineWebhook(Home, { validate: () => [] })]
  const bad = (code: number, message: unknown) => ({
    kind: 'AdmissionReview',
    apiVersion: 'admission.k8s.io/v1',
    response: { uid: '', allowed: false, status: { metadata: {}, message, code } },
  })

  test('responds to v1beta1 reviews in v1beta1', async () => {
    const { body } = await ask(validate, { validate: () => [] }, {}, 'admission.k8s.io/v1beta1')
    expect(body).toMatchObject({ apiVersion: 'admission.k8s.io/v1beta1', response: { uid: 'u-1', allowed: true } })
  })

  test('responds with 404 to other paths', async () => {
    expect(await asker({ webhooks }).ask('/other', {})).toEqual({ status: 404, body: '404 page not found\n' })
  })

  test.each([
    ['nothing', '', undefined, 400, 'request body is empty'],
    ['another type', '{}', 'text/plain', 400, 'contentType=text/plain, expected application/json'],
    [
      'what is too long',
      new Uint8Array(7 * 1024 * 1024 + 1),
      undefined,
      413,
      'request entity is too large; limit is 7340032 bytes',
    ],
    ['no JSON', '{', undefined, 400, expect.stringContaining('json parse error')],
    ['another kind', '{"kind":"Pod"}', undefined, 400, 'expected an AdmissionReview, got "Pod"'],
    ['no question', '{"kind":"AdmissionReview"}', undefined, 400, 'the AdmissionReview has no request'],
  ])('rejects %s', async (_, body, contentType, code, message) => {
    expect((await asker({ webhooks }).post(validate, body, contentType)).body).toEqual(bad(code, message))
  })

  test('responds to any input, and never rejects', async () => {
    const hook = defineWebhook(Home, {
      default: (home) => void (home.spec.domain = home.spec.image.trim()),
      validate: (home, { old }) => [invalid('spec.image', `${old?.spec.image} to ${home.spec.image.trim()}`)],
    })
    const { handler } = asker({ webhooks: [hook], conversions: [homeConversion] })
    const version = fc.constantFrom('admission.k8s.io/v1', 'apiextensions.k8s.io/v1')
    const request = fc.record(
      {
        uid: fc.oneof(fc.string(), fc.jsonValue()),
        operation: fc.constantFrom('CREATE', 'UPDATE', 'DELETE', 'CONNECT', 'OTHER'),
        object: fc.oneof(fc.jsonValue(), fc.constant(object)),
        oldObject: fc.oneof(fc.jsonValue(), fc.constant(object)),
        kind: fc.oneof(fc.jsonValue(), fc.constant(kind)),
        userInfo: fc.oneof(fc.constant(null), fc.jsonValue()),
        options: fc.oneof(fc.constant(null), fc.jsonValue()),
        objects: fc.oneof(fc.jsonValue(), fc.array(fc.oneof(fc.jsonValue(), fc.constant(object)))),
        desiredAPIVersion: fc.oneof(fc.jsonValue(), fc.constant('ajd.example.com/v1beta1')),
      },
      { requiredKeys: [] },
    )
    const review = fc.record(
      {
        kind: fc.constant('AdmissionReview'),
        apiVersion: version,
        request: fc.oneof({ weight: 5, arbitrary: request }, fc.jsonValue()),
      },
      { requiredKeys: ['apiVersion', 'request'] },
    )
    const path = fc.constantFrom(mutate, validate, '/convert')
    await fc.assert(
      fc.asyncProperty(path, fc.oneof(review, fc.jsonValue()), async (at, body) => {
        const headers = { 'content-type': 'application/json' }
        const {
          status,
          headers: sent,
          body: answer,
        } = await handler({
          method: 'POST',
          path: at,
          headers,
          body: Buffer.from(JSON.stringify(body)),
        })
        expect([200, 400]).toContain(status)
        if (sent['content-type']?.[0] === 'application/json') JSON.parse(Buffer.from(answer).toString())
      }),
      { numRuns: 500 },
    )
  })

  test('rejects two webhooks with the same path', () => {
    expect(() => createWebhookHandler({ webhooks: [...webhooks, ...webhooks], client: noClient })).toThrow(
      'Cannot serve two webhooks under /validate-ajd-example-com-v1-home',
    )
  })

  test("aborts the signal when the API server's timeout has passed", async () => {
    const clock = new VirtualClock()
    let reason: unknown
    const slow = defineWebhook(Home, {
      validate: async (_, { signal }) => {
        await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
        reason = signal.reason
        return []
      },
    })
    const { ask: send } = asker({ webhooks: [slow], clock })
    const answer = send(`${validate}?timeout=10s`, { uid: 'u', operation: 'CREATE', object })
    await clock.advance(9_999)
    expect(reason).toBeUndefined()
    await clock.advance(1)
    expect((await answer).status).toBe(200)
    expect(reason).toMatchObject({ message: 'context deadline exceeded' })
  })

  test('counts requests under the metric names of controller-runtime', async () => {
    const seen = new Map<string, number>()
    const note = (name: string, labels: MetricLabels, value: number) =>
      seen.set(`${name}${JSON.stringify(labels)}`, value)
    const metrics: MetricSink = {
      add: (name, labels, amount) => note(name, labels, (seen.get(`${name}${JSON.stringify(labels)}`) ?? 0) + amount),
      set: note,
      observe: note,
    }
    const { ask: send } = asker({ webhooks, metrics })
    const path = `"webhook":"${validate}"`
    expect(seen.get(`controller_runtime_webhook_requests_total{${path},"code":"500"}`)).toBe(0)
    await send(validate, { uid: 'u', operation: 'CREATE', object })
    expect(seen.get(`controller_runtime_webhook_requests_total{${path},"code":"200"}`)).toBe(1)
    expect(seen.get(`controller_runtime_webhook_requests_in_flight{${path}}`)).toBe(0)
    expect(seen.has(`controller_runtime_webhook_latency_seconds{${path}}`)).toBe(true)
    expect(seen.get('controller_runtime_webhook_panics_total{}')).toBe(0)
  })
})

describe('/convert', () => {
  const convert = (request: object, apiVersion = 'apiextensions.k8s.io/v1') =>
    asker({ conversions: [homeConversion] }).post(
      '/convert',
      JSON.stringify({ kind: 'ConversionReview', apiVersion, request }),
    )
  const old = (name: string, spec: object = { container: 'nginx' }) => ({
    apiVersion: 'ajd.example.com/v1beta1',
    kind: 'Home',
    metadata: { name, namespace: 'default', uid: name },
    spec,
  })

  test.each(['apiextensions.k8s.io/v1', 'apiextensions.k8s.io/v1beta1'])(
    'responds to %s in the same version',
    async (apiVersion) => {
      const request = { uid: 'u', desiredAPIVersion: Versioned.apiVersion, objects: [old('a'), old('b')] }
      expect((await convert(request, apiVersion)).body).toEqual({
        kind: 'ConversionReview',
        apiVersion,
        response: {
          uid: 'u',
          convertedObjects: ['a', 'b'].map((name) => ({
            apiVersion: 'ajd.example.com/v1',
            kind: 'Home',
            metadata: { name, namespace: 'default', uid: name },
            spec: { image: 'nginx' },
          })),
          result: { metadata: {}, status: 'Success' },
        },
      })
    },
  )

  test('fails as a whole with the name of the object that cannot be converted', async () => {
    const objects = [old('a'), { ...old('b'), spec: undefined }]
    const { body } = await convert({ uid: 'u', desiredAPIVersion: Versioned.apiVersion, objects })
    expect(body.response).toEqual({
      uid: 'u',
      convertedObjects: [],
      result: {
        metadata: {},
        status: 'Failure',
        message: expect.stringMatching(/^internal error occurred during conversion of Home "default\/b": Cannot/),
      },
    })
  })

  test('fails when an object already has the desired version', async () => {
    const { body } = await convert({ uid: 'u', desiredAPIVersion: 'ajd.example.com/v1beta1', objects: [old('a')] })
    expect(body.response.result).toMatchObject({
      status: 'Failure',
      message: expect.stringContaining('conversion is not allowed between same type'),
    })
  })

  test('rejects invalid reviews', async () => {
    expect(await asker({ conversions: [homeConversion] }).post('/convert', '')).toEqual({
      status: 400,
      body: 'request body is empty\n',
    })
    expect((await convert({}, 'apiextensions.k8s.io/v9')).status).toBe(400)
  })
})
