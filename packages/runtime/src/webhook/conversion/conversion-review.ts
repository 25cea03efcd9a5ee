import { encodeJson } from '@kubewright/api'
import { errorText, isJsonObject, type Logger } from '@kubewright/base'
import { ConversionError, type ConvertibleObject, convertObject, nameOf } from '../../define/convert-object.ts'
import type { Conversion } from '../../define/define-conversion.ts'
import { BadReviewError, readReviewBody } from '../admission/admission-review.ts'
import { isMistake } from '../admission/answer-admission.ts'
import { jsonResponse, textResponse, type WebhookRequest, type WebhookResponse } from '../webhook-request.ts'

/** The context of one review. */
export interface ConversionContext {
  readonly log: Logger
  /** Called after a programming error in a conversion. */
  readonly panicked: () => void
}

const versions: readonly unknown[] = ['apiextensions.k8s.io/v1', 'apiextensions.k8s.io/v1beta1']

/**
 * Responds to a ConversionReview. Either all objects are converted, or the review fails with the first one that cannot
 * be.
 */
export function answerConversion(
  conversions: readonly Conversion[],
  request: WebhookRequest,
  context: ConversionContext,
): WebhookResponse {
  let review: Readonly<Record<string, unknown>>
  try {
    review = readReviewBody(request)
  } catch (error) {
    if (!(error instanceof BadReviewError)) throw error
    context.log.error(error, 'failed to read conversion request')
    return textResponse(error.code, error.message)
  }
  const { apiVersion, request: question } = review
  if (!versions.includes(apiVersion)) {
    return textResponse(400, `ConversionReview version ${JSON.stringify(apiVersion ?? '')} is not supported`)
  }
  if (!isJsonObject(question)) return textResponse(400, 'the ConversionReview has no request')
  const uid = typeof question['uid'] === 'string' ? question['uid'] : ''
  const response = convertAll(conversions, question, context)
  return jsonResponse(`${encodeJson({ kind: 'ConversionReview', apiVersion, response: { uid, ...response } })}\n`)
}

function convertAll(
  conversions: readonly Conversion[],
  { objects, desiredAPIVersion }: Readonly<Record<string, unknown>>,
  { log, panicked }: ConversionContext,
): object {
  const converted: object[] = []
  for (const object of Array.isArray(objects) ? objects : []) {
    try {
      if (!isJsonObject(object) || typeof desiredAPIVersion !== 'string')
        throw new ConversionError('the request is malformed')
      converted.push(convertObject(conversions, object as unknown as ConvertibleObject, desiredAPIVersion))
    } catch (error) {
      const about = isJsonObject(object)
        ? `${String(object['kind'])} ${nameOf(object as unknown as ConvertibleObject)}`
        : ''
      log.error(error, 'failed to convert', { object: about, desiredAPIVersion })
      const mistake = isMistake(error)
      if (mistake) panicked()
      const what = mistake ? 'internal error occurred during conversion of' : 'failed to convert'
      const message = error instanceof ConversionError ? error.message : `${what} ${about}: ${errorText(error)}`
      return { convertedObjects: [], result: { metadata: {}, status: 'Failure', message } }
    }
  }
  return { convertedObjects: converted, result: { metadata: {}, status: 'Success' } }
}
