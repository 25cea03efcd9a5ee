import fc from 'fast-check'
import { expect, test } from 'vitest'
import { answered, WebhookServer } from '../../testdata/webhook-server.ts'

/** Responses that resemble those of a webhook. */
const response = fc.record(
  {
    uid: fc.oneof(fc.constant('?'), fc.string(), fc.jsonValue()),
    allowed: fc.oneof(fc.boolean(), fc.jsonValue()),
    patchType: fc.oneof(fc.constant('JSONPatch'), fc.string(), fc.jsonValue()),
    patch: fc.oneof(
      fc.string(),
      fc.jsonValue().map((value) => Buffer.from(JSON.stringify(value)).toString('base64')),
      fc
        .array(
          fc.record({
            op: fc.constantFrom('add', 'remove', 'replace', 'move', 'copy', 'test', 'odd'),
            path: fc.constantFrom(
              '',
              '/',
              '/data',
              '/data/k',
              '/metadata',
              '/metadata/labels',
              '/metadata/name',
              '/kind',
              '/x',
            ),
            from: fc.constantFrom('/data', '/metadata'),
            value: fc.jsonValue(),
          }),
          { maxLength: 4 },
        )
        .map((value) => Buffer.from(JSON.stringify(value)).toString('base64')),
    ),
    status: fc.oneof(fc.record({ code: fc.integer(), message: fc.string(), reason: fc.string() }), fc.jsonValue()),
    warnings: fc.oneof(fc.array(fc.string({ unit: 'binary' })), fc.jsonValue()),
    auditAnnotations: fc.oneof(fc.dictionary(fc.string(), fc.string()), fc.jsonValue()),
  },
  { requiredKeys: [] },
)
const body = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.json(),
  fc
    .record({
      kind: fc.oneof(fc.constant('AdmissionReview'), fc.jsonValue()),
      apiVersion: fc.oneof(fc.constant('admission.k8s.io/v1'), fc.jsonValue()),
      response: fc.oneof({ weight: 5, arbitrary: response }, { weight: 1, arbitrary: fc.jsonValue() }),
    })
    .map((review) => JSON.stringify(review)),
)

test('callWebhook() survives every response and reports each invalid one', async () => {
  const server = await WebhookServer.start('in-process')
  try {
    for (const kind of ['Mutating', 'Validating'] as const) await server.configure(kind, 'w', 'a')
    await fc.assert(
      fc.asyncProperty(body, fc.constantFrom(200, 200, 200, 404, 500), async (text, code) => {
        // The request has a random uid.
        server.hooks['/a'] = ({ uid }) => answered(code, text.replace('"uid":"?"', `"uid":"${uid}"`))
        const { status, body: answer } = await server.send('POST /api/v1/namespaces/test/configmaps?dryRun=All', {
          metadata: { name: 'x' },
          data: { k: 'v' },
        })
        // Other status codes cannot be sent.
        expect(status >= 201 && status <= 999).toBe(true)
        if (status !== 201) expect(answer).toMatchObject({ kind: 'Status', status: expect.any(String) })
        // The message of an internal error would contain the id of the request.
        expect(answer.message ?? '').not.toMatch(/\(request [^)]*\)$/)
      }),
      { numRuns: 400 },
    )
    expect((await server.send('GET /api/v1/namespaces/test')).status).toBe(200)
  } finally {
    await server[Symbol.asyncDispose]()
  }
})
