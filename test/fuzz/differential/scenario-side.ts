import { isJsonObject } from '@kubewright/base'
import type { RequestSpec } from '../../conformance/case-format.ts'
import { withoutColumnTexts } from '../../conformance/compare.ts'
import { EventStream, type WatchEvent } from '../../conformance/event-stream.ts'
import type { CountedHeaders, HttpClient } from '../../conformance/http-client.ts'
import { Normalizer } from '../../conformance/normalizer.ts'
import type { WebhookHost } from '../../conformance/webhook-host.ts'
import { comparableBody } from './comparable-body.ts'
import type { Scenario } from './scenario.ts'

/** A response in the form in which the responses of two servers are compared. */
export interface ComparableResponse {
  readonly status: number
  readonly headers: CountedHeaders
  readonly body: unknown
}

/** A client of one of the two servers. */
export interface ComparedClient {
  readonly name: string
  readonly client: HttpClient
  /** The userInfo of its credentials. */
  readonly self: unknown
}

const readyAttempts = 30
const metadataPlaceholders = [
  ['uid', 'uid'],
  ['rv', 'resourceVersion'],
] as const
const listPlaceholders = [['continue', 'continue']] as const
/** Texts that differ between two runs of the same server. */
const replacedTexts: [string, string][] = [
  ['\\b10\\.0\\.0\\.\\d+', '<ip>'],
  // kube-apiserver appends the nanoseconds of the present time.
  ['\\bselfType\\d*', 'selfType'],
]

/** One of the two servers during one scenario. Dispose of it after the scenario: its watches and webhooks end. */
export class ScenarioSide implements Disposable {
  readonly #client: HttpClient
  readonly #scenario: Scenario
  readonly #host: WebhookHost
  /** The part of the webhook URLs that distinguishes the servers. */
  readonly #hookPrefix: string
  readonly #normalizer: Normalizer
  readonly #placeholders = new Map<string, string>()
  readonly #streams: EventStream[] = []

  constructor({ client, name, self }: ComparedClient, scenario: Scenario, host: WebhookHost) {
    this.#client = client
    this.#scenario = scenario
    this.#host = host
    this.#hookPrefix = `${name}/${scenario.namespace}`
    const webhookBase = `${host.base}/${this.#hookPrefix}`
    this.#placeholders.set('webhook', webhookBase).set('caBundle', host.caBundle)
    this.#normalizer = new Normalizer(
      { id: '', title: '', steps: [], rv: 'loose', subs: replacedTexts },
      'no-unique-name',
      new Map(),
      { serverHosts: [], webhookBase, caBundle: host.caBundle, self },
    )
  }

  [Symbol.dispose](): void {
    for (const stream of this.#streams) stream[Symbol.dispose]()
    for (const name of this.#hookNames()) this.#host.remove(this.#hook(name))
  }

  /** Creates what the requests need, and opens the watches. */
  async prepare(): Promise<void> {
    const { namespace, setup = [], ready, watches = [] } = this.#scenario
    this.#serveWebhooks()
    const account = { metadata: { name: 'default' } }
    const path = '/api/v1/namespaces'
    await this.#send({ method: 'POST', path, body: { metadata: { name: namespace } } })
    await this.#send({ method: 'POST', path: `${path}/${namespace}/serviceaccounts`, body: account })
    for (const request of setup) await this.#send(request)
    if (ready) await this.#untilReady(ready)
    // Forget the calls of the preparation.
    this.#serveWebhooks()
    for (const watch of watches) this.#streams.push(await EventStream.open(this.#client, this.#filled(watch)))
  }

  /** Sends a request of the scenario. */
  async response(request: RequestSpec): Promise<ComparableResponse> {
    const { status, headers, body } = await this.#send(request)
    const warning = headers.warning?.map((text) => this.#normalizer.text(text)).sort()
    const shown = { ...headers, ...(warning ? { warning } : {}) }
    return { status, headers: shown, body: withoutColumnTexts(comparableBody(body, this.#normalizer)) }
  }

  /** The number of events that the watches have received. */
  get eventCount(): number {
    return this.#streams.reduce((sum, { events }) => sum + events.filter(isCompared).length, 0)
  }

  /** What the watches have received. */
  received(): unknown[] {
    return this.#streams.map(({ status, error, ended, events }) => ({
      status,
      ...(error === undefined ? {} : { error: comparableBody(error, this.#normalizer) }),
      ended,
      events: events.filter(isCompared).map(({ type, object }) => ({
        type,
        object: withoutColumnTexts(comparableBody(object, this.#normalizer)),
      })),
    }))
  }

  /**
   * The calls of the admission webhooks since the preparation. Calls of one webhook may be concurrent, so they are sorted. When a server
   * converts objects, and how often, depends on its caches.
   */
  calls(): Record<string, unknown[]> {
    const comparable = (name: string): unknown[] =>
      this.#host
        .callsOf(this.#hook(name))
        .map(({ method, query, contentType, body }) => ({
          method,
          query,
          contentType,
          body: comparableBody(withoutReviewUid(body), this.#normalizer),
        }))
        .sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
    const webhooks = Object.entries(this.#scenario.webhooks ?? {}).filter(([, { type }]) => type !== 'conversion')
    return Object.fromEntries(webhooks.map(([name]) => [name, comparable(name)]))
  }

  /** Deletes what the scenario has created. Objects that stay would be part of later lists. */
  async cleanUp(): Promise<void> {
    const { namespace, created = [] } = this.#scenario
    const headers = { 'content-type': 'application/merge-patch+json' }
    const body = { metadata: { finalizers: null } }
    for (const path of [...created, `/api/v1/namespaces/${namespace}`]) {
      await this.#client.request({ method: 'DELETE', path }).catch(() => undefined)
      if (!path.startsWith('/api/v1/namespaces/') && !path.includes('customresourcedefinitions')) {
        await this.#client.request({ method: 'PATCH', path, headers, body }).catch(() => undefined)
      }
    }
  }

  #hookNames(): string[] {
    return Object.keys(this.#scenario.webhooks ?? {})
  }

  #hook(name: string): string {
    return `${this.#hookPrefix}/${name}`
  }

  #serveWebhooks(): void {
    for (const [name, spec] of Object.entries(this.#scenario.webhooks ?? {})) this.#host.set(this.#hook(name), spec)
  }

  async #untilReady({ request, status }: NonNullable<Scenario['ready']>): Promise<void> {
    // A scenario that never becomes ready, such as one with an invalid policy, is compared as it is.
    for (let attempt = 0; attempt < readyAttempts; attempt++) {
      if ((await this.#client.request(request)).status === status) return
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }

  async #send(request: RequestSpec): ReturnType<HttpClient['request']> {
    const answer = await this.#client.request({ ...this.#filled(request), noRetry: true })
    const metadata = isJsonObject(answer.body) ? answer.body['metadata'] : undefined
    if (isJsonObject(metadata)) {
      // The version of a list is that of the store, which other scenarios change.
      const names = typeof metadata['name'] === 'string' ? metadataPlaceholders : listPlaceholders
      for (const [name, field] of names) {
        if (typeof metadata[field] === 'string') this.#placeholders.set(name, metadata[field])
      }
    }
    return answer
  }

  #filled(request: RequestSpec): RequestSpec {
    const text = JSON.stringify(request)
    if (!/\{(uid|rv|continue|webhook|caBundle)\}/.test(text)) return request
    const value = (_: string, name: string): string => this.#placeholders.get(name) ?? 'none'
    return JSON.parse(text.replace(/\{(uid|rv|continue|webhook|caBundle)\}/g, value)) as RequestSpec
  }
}

/** The server decides when to send a bookmark, except the one that ends the initial events. */
function isCompared({ type, object }: WatchEvent): boolean {
  return type !== 'BOOKMARK' || JSON.stringify(object).includes('"k8s.io/initial-events-end":"true"')
}

function withoutReviewUid(review: unknown): unknown {
  if (!isJsonObject(review) || !isJsonObject(review['request'])) return review
  const { uid: _, ...request } = review['request']
  return { ...review, request }
}
