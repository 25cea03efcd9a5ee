import {
  type Clock,
  type Logger,
  linkSignals,
  type MetricSink,
  nanosToMillis,
  nullLogger,
  parseDuration,
  systemClock,
} from '@kubewright/base'
import type { Reader } from '@kubewright/client'
import type { Conversion } from '../define/define-conversion.ts'
import type { Webhook } from '../define/define-webhook.ts'
import { noTracer, type Tracer } from '../telemetry/tracing/tracer.ts'
import {
  type AdmissionAnswer,
  type AdmissionRequest,
  BadReviewError,
  badReviewResponse,
  openReview,
  reviewResponse,
} from './admission/admission-review.ts'
import { type AnswerContext, answerDefaulting, answerValidation } from './admission/answer-admission.ts'
import { answerConversion } from './conversion/conversion-review.ts'
import { WebhookMetrics } from './webhook-metrics.ts'
import { textResponse, type WebhookHandler, type WebhookRequest, type WebhookResponse } from './webhook-request.ts'

/** Options of {@link createWebhookHandler}. */
export interface WebhookHandlerOptions {
  readonly webhooks: readonly Webhook[]
  /** Served at {@link conversionPath}. */
  readonly conversions?: readonly Conversion[]
  /** The client of the webhooks; must not read from a cache. */
  readonly client: Reader
  /** @default the system clock */
  readonly clock?: Clock
  /** @default no log */
  readonly log?: Logger
  readonly metrics?: MetricSink
  readonly tracer?: Tracer
}

/** The path of the conversion webhook. */
export const conversionPath = '/convert'

type Route = (request: WebhookRequest, signal: AbortSignal, metrics: WebhookMetrics) => Promise<WebhookResponse>

/**
 * Creates the handler for admission and conversion reviews, each at its own path; other paths respond with 404. Throws
 * a TypeError when two webhooks have the same path.
 */
export function createWebhookHandler(options: WebhookHandlerOptions): WebhookHandler {
  const { clock = systemClock, log = nullLogger, metrics: sink, tracer = noTracer } = options
  const routes = new Map<string, { readonly route: Route; readonly metrics: WebhookMetrics }>()
  const add = (path: string, route: Route): void => {
    if (routes.has(path)) {
      throw new TypeError(
        `Cannot serve two webhooks under ${path}: give one of them another 'validationPath' or 'defaultingPath'`,
      )
    }
    routes.set(path, { route, metrics: new WebhookMetrics(sink, path) })
  }
  for (const webhook of options.webhooks) {
    if (webhook.defaulting) add(webhook.defaulting.path, admission(options, webhook, answerDefaulting))
    if (webhook.validation) add(webhook.validation.path, admission(options, webhook, answerValidation))
  }
  const { conversions = [] } = options
  if (conversions.length > 0) {
    add(conversionPath, async (request, _signal, metrics) =>
      answerConversion(conversions, request, { log, panicked: () => metrics.conversionPanicked() }),
    )
  }
  return async (request) => {
    const [path = '', query = ''] = request.path.split('?', 2)
    const found = routes.get(path)
    if (!found) return textResponse(404, '404 page not found')
    const { route, metrics } = found
    const start = clock.monotonic()
    metrics.started()
    const link = linkSignals(request.signal)
    const limit = limitOf(query)
    const timer =
      limit === undefined
        ? undefined
        : clock.setTimer(limit, () => link.abort(new Error('context deadline exceeded')), `webhook ${path}`)
    let response = textResponse(500, 'Internal Server Error')
    try {
      response = await tracer.span('webhook', { 'webhook.path': path }, () => route(request, link.signal, metrics))
    } catch (error) {
      log.error(error, 'Webhook request failed', { webhook: path })
    } finally {
      timer?.cancel()
      link[Symbol.dispose]()
      metrics.ended(response.status, clock.monotonic() - start)
    }
    return response
  }
}

type Answer = (webhook: Webhook, request: AdmissionRequest, context: AnswerContext) => Promise<AdmissionAnswer>

function admission(options: WebhookHandlerOptions, webhook: Webhook, answer: Answer): Route {
  const { client, clock = systemClock, log = nullLogger } = options
  const { kind } = webhook
  const now = (): Date => new Date(clock.now())
  return async (request, signal, metrics) => {
    try {
      const { apiVersion, request: admissionRequest } = openReview(request)
      const { uid = '', name = '', namespace = '', operation, userInfo } = admissionRequest
      const about = { webhookGroup: kind.group, webhookKind: kind.kind, namespace, name, operation, requestID: uid }
      const reviewed = log.withValues({ ...about, user: userInfo?.username ?? '' })
      reviewed.v(5).info('received request')
      const context = { client, signal, now, log: reviewed, panicked: () => metrics.panicked() }
      const answered = await answer(webhook, admissionRequest, context)
      reviewed.v(5).info('wrote response', { allowed: answered.allowed, code: answered.status?.code ?? 200 })
      return reviewResponse(apiVersion, uid, answered)
    } catch (error) {
      if (!(error instanceof BadReviewError)) throw error
      log.error(error, 'unable to decode the request')
      return badReviewResponse(error)
    }
  }
}

/** How long the API server waits for the response, in milliseconds. */
function limitOf(query: string): number | undefined {
  const timeout = new URLSearchParams(query).get('timeout')
  if (timeout === null) return undefined
  try {
    return nanosToMillis(parseDuration(timeout))
  } catch {
    return undefined
  }
}
