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
import type { AnyWebhook } from '../define/any-webhook.ts'
import type { Conversion } from '../define/define-conversion.ts'
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
import { answerRaw } from './admission/answer-raw.ts'
import { answerConversion } from './conversion/conversion-review.ts'
import { answerAccessReview, answerTokenReview } from './reviews/answer-reviews.ts'
import { WebhookMetrics } from './webhook-metrics.ts'
import {
  notFoundResponse,
  textResponse,
  type WebhookHandler,
  type WebhookRequest,
  type WebhookResponse,
} from './webhook-request.ts'

/** Options of {@link createWebhookHandler}. */
export interface WebhookHandlerOptions {
  readonly webhooks: readonly AnyWebhook[]
  /** Served at {@link conversionPath}. */
  readonly conversions?: readonly Conversion[] | undefined
  /** The client of the webhooks; must not read from a cache. */
  readonly client: Reader
  /** @default the system clock */
  readonly clock?: Clock | undefined
  /** @default no log */
  readonly log?: Logger | undefined
  readonly metrics?: MetricSink | undefined
  readonly tracer?: Tracer | undefined
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
        `Cannot serve two webhooks under ${path}: give one of them another path ('validationPath', 'defaultingPath' or 'path')`,
      )
    }
    routes.set(path, { route, metrics: new WebhookMetrics(sink, path) })
  }
  for (const webhook of options.webhooks) {
    for (const [path, route] of routesOf(webhook, options)) add(path, route)
  }
  const { conversions = [] } = options
  if (conversions.length > 0) {
    add(conversionPath, async (request, _signal, metrics) =>
      answerConversion(conversions, request, { log, panicked: () => metrics.conversionPanicked() }),
    )
  }
  const serves = (path: string): boolean => routes.has(path.split('?', 1)[0]!)
  const handle = async (request: WebhookRequest): Promise<WebhookResponse> => {
    const [path = '', query = ''] = request.path.split('?', 2)
    const found = routes.get(path)
    if (!found) return notFoundResponse()
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
  return Object.assign(handle, { serves })
}

/** The paths of a webhook and what serves them. */
function routesOf(webhook: AnyWebhook, options: WebhookHandlerOptions): (readonly [string, Route])[] {
  if (webhook.type === 'token' || webhook.type === 'access') {
    const log = (options.log ?? nullLogger).withValues({ webhook: webhook.path })
    const route: Route = (request, signal, metrics) => {
      const context = answerContext(options, signal, metrics, log)
      return webhook.type === 'token'
        ? answerTokenReview(webhook, request, context)
        : answerAccessReview(webhook, request, context)
    }
    return [[webhook.path, route]]
  }
  const { defaulting, validation } = webhook
  if (webhook.type === 'admission') {
    const answer: Answer = (request, context) => answerRaw(webhook, request, context)
    return [defaulting, validation].flatMap((one) => (one ? [[one.path, admission(options, webhook, answer)]] : []))
  }
  const routes: (readonly [string, Route])[] = []
  if (defaulting) {
    const answer: Answer = (request, context) => answerDefaulting(webhook, request, context)
    routes.push([defaulting.path, admission(options, webhook, answer)])
  }
  if (validation) {
    const answer: Answer = (request, context) => answerValidation(webhook, request, context)
    routes.push([validation.path, admission(options, webhook, answer)])
  }
  return routes
}

type Answer = (request: AdmissionRequest, context: AnswerContext) => Promise<AdmissionAnswer>

function admission(options: WebhookHandlerOptions, { kind }: AnyWebhook, answer: Answer): Route {
  const { log = nullLogger } = options
  return async (request, signal, metrics) => {
    try {
      const { apiVersion, request: admissionRequest } = openReview(request)
      const { uid = '', name = '', namespace = '', operation, userInfo } = admissionRequest
      const { group, kind: kindName } = kind ?? admissionRequest.kind ?? {}
      const about = { webhookGroup: group, webhookKind: kindName, namespace, name, operation, requestID: uid }
      const reviewed = log.withValues({ ...about, user: userInfo?.username ?? '' })
      reviewed.v(5).info('received request')
      const answered = await answer(admissionRequest, answerContext(options, signal, metrics, reviewed))
      reviewed.v(5).info('wrote response', { allowed: answered.allowed, code: answered.status?.code ?? 200 })
      return reviewResponse(apiVersion, uid, answered)
    } catch (error) {
      if (!(error instanceof BadReviewError)) throw error
      log.error(error, 'unable to decode the request')
      return badReviewResponse(error)
    }
  }
}

function answerContext(
  { client, clock = systemClock }: WebhookHandlerOptions,
  signal: AbortSignal,
  metrics: WebhookMetrics,
  log: Logger,
): AnswerContext {
  return { client, signal, now: () => new Date(clock.now()), log, panicked: () => metrics.panicked() }
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
