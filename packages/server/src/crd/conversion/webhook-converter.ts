import { encodeJson, parseGroupVersion } from '@kubewright/api'
import { type Random, uuid } from '@kubewright/base'
import { goJsonKind } from '../../codec/json/go-codec.ts'
import type { WebhookClient, WebhookTarget } from '../../outgoing/webhook-client.ts'
import { unclassifiedError } from '../../request/unclassified-error.ts'
import type { MutableObject } from '../../resource/object.ts'
import type { Crd, CrdWebhookClient } from '../definitions/crd.ts'
import type { CustomConverter } from '../resources/custom-storage.ts'
import { decodeConversionReview, encodeConversionReview, reviewVersionOf } from './conversion-review.ts'
import { checkSameObject, restoreMetadata } from './restore-metadata.ts'

/** The timeout of a webhook call, which the webhook also receives as a query parameter. */
const timeoutSeconds = 30
/** The maximum number of objects in a review, so that a webhook can respond within the timeout. */
const maxObjects = 200

/** The dependencies of a {@link WebhookConverter}. */
export interface WebhookConverterParts {
  readonly client: WebhookClient
  readonly random: Random
}

/** The converter of a CRD; undefined when conversion changes apiVersion only. */
export function converterFor(parts: WebhookConverterParts, crd: Crd): CustomConverter | undefined {
  return crd.spec.conversion?.strategy === 'Webhook' ? new WebhookConverter(parts, crd) : undefined
}

/**
 * Converts custom resources with the webhook of their CRD. Webhooks are not trusted: they can change the content, labels and
 * annotations of an object, but neither its identity nor the rest of its metadata. Error texts are those of apiextensions-apiserver.
 */
export class WebhookConverter implements CustomConverter {
  readonly #parts: WebhookConverterParts
  readonly #target: WebhookTarget
  readonly #accepted: readonly string[]
  readonly #versions: ReadonlySet<string>

  constructor(parts: WebhookConverterParts, { spec }: Crd) {
    this.#parts = parts
    this.#target = targetOf(spec.conversion?.webhook?.clientConfig ?? {})
    this.#accepted = spec.conversion?.webhook?.conversionReviewVersions ?? []
    this.#versions = new Set((spec.versions ?? []).map(({ name }) => `${spec.group}/${name}`))
  }

  readonly convert = async (objects: MutableObject[], apiVersion: string): Promise<MutableObject[]> => {
    const result = [...objects]
    const pending: number[] = []
    for (const [i, object] of objects.entries()) {
      if (object.apiVersion === apiVersion) continue
      // An object with kind and apiVersion only has no content to convert.
      if (Object.keys(object).length === 2) {
        result[i] = { ...object, apiVersion }
        continue
      }
      if (!this.#versions.has(object.apiVersion)) {
        throw unclassifiedError(`request to convert CR from an invalid group/version: ${object.apiVersion}`)
      }
      pending.push(i)
    }
    for (let start = 0; start < pending.length; start += maxObjects) {
      const part = pending.slice(start, start + maxObjects)
      const converted = await this.#ask(
        part.map((i) => objects[i]!),
        apiVersion,
      )
      for (const [at, i] of part.entries()) result[i] = converted[at]!
    }
    return result
  }

  async #ask(objects: readonly MutableObject[], desiredAPIVersion: string): Promise<MutableObject[]> {
    const { client, random } = this.#parts
    const subject = `conversion webhook for ${objects[0]!.apiVersion}, Kind=${objects[0]!.kind}`
    let converted: unknown[]
    try {
      const version = reviewVersionOf(this.#accepted)
      const uid = uuid(random)
      const body = encodeConversionReview(version, { uid, desiredAPIVersion, objects: objects.map(unversioned) })
      // Not cancelled with the request, because other requests may wait for the same object.
      converted = decodeConversionReview(await client.call(this.#target, body, { timeoutSeconds }), version, uid)
    } catch (error) {
      throw unclassifiedError(`${subject} failed: ${(error as Error).message}`)
    }
    if (converted.length !== objects.length) {
      throw unclassifiedError(`${subject} returned ${converted.length} objects, expected ${objects.length}`)
    }
    return objects.map((original, i) => accepted(subject, original, converted[i], desiredAPIVersion))
  }
}

/** Checks that a converted object is the same object in the desired version, and restores its metadata. */
function accepted(subject: string, original: MutableObject, given: unknown, desired: string): MutableObject {
  // Go keeps nothing of a null, and then parses an empty text.
  if (given === null) throw unclassifiedError('unexpected end of JSON input')
  if (typeof given !== 'object' || Array.isArray(given)) {
    throw unclassifiedError(`json: cannot unmarshal ${goJsonKind(given)} into Go value of type map[string]interface {}`)
  }
  const converted = given as MutableObject
  const { apiVersion, kind } = converted
  if (typeof kind !== 'string' || kind === '') {
    throw unclassifiedError(`Object 'Kind' is missing in '${encodeJson(given, { sortKeys: true })}'`)
  }
  const invalid = `${subject} returned invalid object at index 0`
  if (apiVersion !== desired) {
    const received = printedVersion(apiVersion)
    throw unclassifiedError(`${invalid}: invalid groupVersion (expected ${desired}, received ${received})`)
  }
  if (kind !== original.kind) {
    throw unclassifiedError(`${invalid}: invalid kind (expected ${original.kind}, received ${kind})`)
  }
  try {
    checkSameObject(original, converted)
  } catch (error) {
    throw unclassifiedError(`${subject} returned invalid object: ${(error as Error).message}`)
  }
  try {
    restoreMetadata(original, converted)
  } catch (error) {
    throw unclassifiedError(`${subject} returned invalid metadata: ${(error as Error).message}`)
  }
  return converted
}

/** The object without resourceVersion, which webhooks do not receive. */
function unversioned(object: MutableObject): MutableObject {
  if (object.metadata.resourceVersion === undefined) return object
  const { resourceVersion: _, ...metadata } = object.metadata
  return { ...object, metadata }
}

/** A group version as Go prints it. */
function printedVersion(apiVersion: unknown): string {
  if (typeof apiVersion !== 'string' || apiVersion === '') return ''
  const { group, version } = parseGroupVersion(apiVersion)
  return group === '' ? version : `${group}/${version}`
}

function targetOf({ url, service, caBundle = '' }: CrdWebhookClient): WebhookTarget {
  const blank = Buffer.from(caBundle, 'base64').toString('latin1').trim() === ''
  return {
    ...(blank ? {} : { caBundle }),
    ...(service
      ? {
          service: {
            namespace: service.namespace ?? '',
            name: service.name ?? '',
            path: service.path,
            port: service.port,
          },
        }
      : { url }),
  }
}
