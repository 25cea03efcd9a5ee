import { isApiError } from '@kubewright/api'
import { seededRandom, VirtualClock } from '@kubewright/base'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { OutgoingResponse } from '../../outgoing/outgoing.ts'
import { WebhookClient } from '../../outgoing/webhook-client.ts'
import type { MutableObject } from '../../resource/object.ts'
import { asCrd } from '../definitions/crd.ts'
import { WebhookConverter } from './webhook-converter.ts'

const from = 'x.example.com/v1'
const to = 'x.example.com/v2'
const object: MutableObject = {
  apiVersion: from,
  kind: 'X',
  metadata: { name: 'a', uid: 'u', labels: { old: 'Bad Value' }, finalizers: ['f'] },
}
const crd = asCrd({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'xs.x.example.com' },
  spec: {
    group: 'x.example.com',
    versions: [{ name: 'v1' }, { name: 'v2' }],
    conversion: {
      strategy: 'Webhook',
      webhook: { clientConfig: { url: 'https://hook/' }, conversionReviewVersions: ['v1'] },
    },
  },
})

/** Converts an object with a webhook that responds with `answer(request)`. */
async function convert(answer: (request: { uid: string }) => string): Promise<MutableObject> {
  const outgoing = async ({ body }: { body?: Uint8Array | undefined }): Promise<OutgoingResponse> => {
    const { request } = JSON.parse(Buffer.from(body!).toString()) as { request: { uid: string } }
    async function* chunks(): AsyncGenerator<Uint8Array> {
      yield Buffer.from(answer(request))
    }
    return { status: 200, headers: { 'content-type': ['application/json'] }, body: chunks() }
  }
  const resolveService = () => Promise.reject(new Error('no service'))
  const client = new WebhookClient({ outgoing, resolveService, clock: new VirtualClock() })
  const converter = new WebhookConverter({ client, random: seededRandom(1) }, crd)
  const [converted] = await converter.convert([structuredClone(object)], to)
  return converted!
}

const texts = fc.dictionary(fc.string(), fc.oneof(fc.string(), fc.integer(), fc.constant(null)), { maxKeys: 3 })
const metadata = fc.oneof(
  fc.jsonValue(),
  fc.record({
    name: fc.oneof(fc.constant('a'), fc.jsonValue()),
    uid: fc.oneof(fc.constant('u'), fc.jsonValue()),
    labels: fc.oneof(texts, fc.jsonValue()),
    annotations: fc.oneof(texts, fc.jsonValue()),
  }),
  fc.record({ name: fc.constant('a'), uid: fc.constant('u'), labels: texts }, { requiredKeys: ['name', 'uid'] }),
)
const answered = fc.oneof(
  fc.jsonValue(),
  fc.record({ apiVersion: fc.constantFrom(to, from), kind: fc.constantFrom('X', 'Y'), metadata, spec: fc.jsonValue() }),
)

describe('WebhookConverter', () => {
  test('rejects malformed responses with an ApiError', async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.string(), fc.json()), async (text) => {
        await expect(convert(() => text)).rejects.toSatisfy(isApiError)
      }),
      { numRuns: 200 },
    )
  })

  test('rejects another identity and invalid labels', async () => {
    let accepted = 0
    const converts = fc.asyncProperty(answered, async (given) => {
      const review = ({ uid }: { uid: string }): string =>
        JSON.stringify({
          apiVersion: 'apiextensions.k8s.io/v1',
          kind: 'ConversionReview',
          response: { uid, result: { status: 'Success' }, convertedObjects: [given] },
        })
      let converted: MutableObject
      try {
        converted = await convert(review)
      } catch (error) {
        expect(error).toSatisfy(isApiError)
        return
      }
      accepted++
      expect(converted).toMatchObject({
        apiVersion: to,
        kind: 'X',
        metadata: { name: 'a', uid: 'u', finalizers: ['f'] },
      })
      for (const value of Object.values(converted.metadata.labels ?? {})) expect(value).toMatch(/^[\w.-]*$/)
    })
    await fc.assert(converts, { numRuns: 500 })
    expect(accepted).toBeGreaterThan(0)
  })
})
