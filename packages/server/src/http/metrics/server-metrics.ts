import { type ApiRequest, type ApiResponse, type BodySink, isApiError } from '@kubewright/api'
import {
  type Clock,
  createMetricRegistry,
  type MetricDefinition,
  type MetricLabels,
  type MetricRegistry,
  measureProcess,
} from '@kubewright/base'
import { versionInfo } from '../../discovery/version-path.ts'
import type { ObjectAccess } from '../../registry/object-access.ts'
import { settle } from '../../request/awaitable.ts'
import type { RequestContext } from '../../request/request-context.ts'
import type { RequestFilter } from '../../request/request-filter.ts'
import { isLongRunning, isMutating } from '../filters/request-class.ts'
import { afterResponse } from '../filters/response-end.ts'

const durations = [0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60]
const sizes = [1000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000]
const requestLabels = ['verb', 'group', 'version', 'resource', 'subresource', 'scope']
/**
 * The maximum number of label combinations for which request metrics are kept. Only served resources have classes, so the bound matters to clusters that define and delete thousands of
 * custom resources; requests beyond it count as requests of unknown resources.
 */
const maxClasses = 2000
/** The label of methods, resources and subresources that the server does not serve: clients choose these names. */
const unknown = 'other'

const requests: MetricDefinition = {
  name: 'apiserver_request_total',
  type: 'counter',
  help: 'Completed requests.',
  labels: ['code', 'component', ...requestLabels],
}
const requestDurations: MetricDefinition = {
  name: 'apiserver_request_duration_seconds',
  type: 'histogram',
  help: 'Time until the response was complete.',
  labels: requestLabels,
  buckets: durations,
}
const responseSizes: MetricDefinition = {
  name: 'apiserver_response_sizes',
  type: 'histogram',
  help: 'Bytes in the body of a response.',
  labels: requestLabels,
  buckets: sizes,
}
const watchEvents: MetricDefinition = {
  name: 'apiserver_watch_events_total',
  type: 'counter',
  help: 'Events sent to watches.',
  labels: ['group', 'version', 'resource'],
}
const inFlight: MetricDefinition = {
  name: 'apiserver_current_inflight_requests',
  type: 'gauge',
  help: 'Requests in flight, without long-running ones.',
  labels: ['request_kind'],
}
const longRunning: MetricDefinition = {
  name: 'apiserver_longrunning_requests',
  type: 'gauge',
  help: 'Watches and other long-running requests in flight.',
  labels: requestLabels,
}
const storedObjects: MetricDefinition = {
  name: 'apiserver_storage_objects',
  type: 'gauge',
  help: 'Stored objects.',
  labels: ['resource'],
}
const unreadableObjects: MetricDefinition = {
  name: 'kubewright_apiserver_unreadable_objects',
  type: 'gauge',
  help: 'Stored objects that cannot be read. Lists and watches leave them out.',
  labels: [],
}
const buildInfo: MetricDefinition = {
  name: 'kubernetes_build_info',
  type: 'gauge',
  help: 'The Kubernetes version that the server is compatible with.',
  labels: ['git_version', 'major', 'minor'],
}

/** Requests with equal labels. */
interface RequestClass {
  readonly labels: MetricLabels
  /** The labels of the events that its watches receive. */
  readonly eventLabels: MetricLabels
  readonly isLong: boolean
  /** The labels with each status code. The registry finds a series faster by an object that it has seen before. */
  readonly byCode: Map<number, MetricLabels>
  running: number
  /** Events that its watches have received, and how many of them the registry has: they are added when metrics are rendered. */
  events: number
  countedEvents: number
}

/** The parts of the server that {@link ServerMetrics} measures. */
export interface MeasuredParts extends ObjectAccess {
  readonly clock: Clock
}

/** What the server measures of its own work, under the metric names of kube-apiserver. */
export class ServerMetrics {
  readonly registry: MetricRegistry = createMetricRegistry([
    requests,
    requestDurations,
    responseSizes,
    watchEvents,
    inFlight,
    longRunning,
    storedObjects,
    unreadableObjects,
    buildInfo,
  ])
  readonly #collectors: (() => void)[] = []
  readonly #classes = new Map<string, RequestClass>()
  readonly #inFlight = { mutating: 0, readOnly: 0 }
  readonly #parts: MeasuredParts

  constructor(parts: MeasuredParts) {
    this.#parts = parts
    const { major = '', minor = '', gitVersion = '' } = versionInfo(parts.resources.release.facts)
    this.registry.set(buildInfo.name, { git_version: gitVersion, major, minor }, 1)
    // A periodic timer would keep a virtual clock from becoming idle.
    measureProcess(this.registry, { process, clock: parts.clock, eventLoopLag: false })
  }

  /** Counts and times every request. */
  readonly filter: RequestFilter = (context, next) => {
    const found = this.#classOf(context)
    const long = isLongRunning(context.info)
    const kind = isMutating(context.request.method) ? 'mutating' : 'readOnly'
    if (!long) this.#inFlight[kind]++
    found.running++
    const begin = this.#parts.clock.monotonic()
    const done = (code: number, bytes: number): void => {
      if (!long) this.#inFlight[kind]--
      found.running--
      this.#count(found, code)
      if (long) return
      this.registry.observe(requestDurations.name, found.labels, (this.#parts.clock.monotonic() - begin) / 1000)
      if (bytes > 0) this.registry.observe(responseSizes.name, found.labels, bytes)
    }
    return settle(
      next,
      (response) => measured(context.request, response, done, context.info.verb === 'watch' ? found : undefined),
      (error) => {
        done(isApiError(error) ? (error.status.code ?? 500) : 500, 0)
        throw error
      },
    )
  }

  /** Calls a function before metrics are rendered, for metrics that are cheaper to collect than to maintain. */
  onRender(collect: () => void): void {
    this.#collectors.push(collect)
  }

  /** The response body of /metrics. */
  async render(): Promise<string> {
    const { registry } = this
    for (const collect of this.#collectors) collect()
    await this.#collectObjects()
    for (const [kind, count] of Object.entries(this.#inFlight))
      registry.set(inFlight.name, { request_kind: kind }, count)
    for (const found of this.#classes.values()) {
      if (found.isLong) registry.set(longRunning.name, found.labels, found.running)
      if (found.events === found.countedEvents) continue
      registry.add(watchEvents.name, found.eventLabels, found.events - found.countedEvents)
      found.countedEvents = found.events
    }
    return registry.text()
  }

  async #collectObjects(): Promise<void> {
    const { resources, registry } = this.#parts
    const counts = new Map<string, number>()
    for (const { kind, storage, serving } of resources.all()) {
      if (!serving.verbs.includes('list')) continue
      const cache = await registry.feed.cache(storage.prefix)
      counts.set(kind.group === '' ? kind.plural : `${kind.plural}.${kind.group}`, cache.size)
    }
    // No await from here on: a concurrent request for /metrics must not see half of the counts.
    this.registry.set(unreadableObjects.name, {}, registry.feed.unreadable().length)
    this.registry.clear(storedObjects.name)
    for (const [resource, count] of counts) this.registry.set(storedObjects.name, { resource }, count)
  }

  #count({ byCode, labels }: RequestClass, code: number): void {
    let withCode = byCode.get(code)
    if (withCode === undefined) {
      withCode = Object.freeze({ code: String(code), component: 'apiserver', ...labels })
      byCode.set(code, withCode)
    }
    this.registry.add(requests.name, withCode, 1)
  }

  /**
   * The class of a request. Requests that were not authorized are counted too, so every label is a member of a set that clients cannot
   * extend: the methods and verbs below, the served resources and their subresources.
   */
  #classOf(context: RequestContext): RequestClass {
    const labels = this.#labelsOf(context)
    const key = keyOf(labels)
    const known = this.#classes.get(key)
    if (known) return known
    if (this.#classes.size < maxClasses || labels.resource === unknown) return this.#newClass(key, labels)
    const shared = { ...labels, ...unknownResource }
    return this.#classes.get(keyOf(shared)) ?? this.#newClass(keyOf(shared), shared)
  }

  #newClass(key: string, labels: ClassLabels): RequestClass {
    const { verb, group, version, resource, subresource } = labels
    const made: RequestClass = {
      labels: Object.freeze({ ...labels }),
      eventLabels: Object.freeze({ group, version, resource }),
      isLong: isLongRunning({ isResource: resource !== '', verb: verb.toLowerCase(), subresource }),
      byCode: new Map(),
      running: 0,
      events: 0,
      countedEvents: 0,
    }
    this.#classes.set(key, made)
    return made
  }

  #labelsOf({ info, request }: RequestContext): ClassLabels {
    if (!info.isResource) {
      const verb = methods.has(request.method) ? request.method : unknown
      return { verb, group: '', version: '', resource: '', subresource: '', scope: '' }
    }
    const verb = verbs.get(info.verb) ?? unknown
    const scope = info.name !== '' ? 'resource' : info.namespace !== '' ? 'namespace' : 'cluster'
    const { group, version, resource } = info
    const served = this.#parts.resources.find(group, version, resource)
    if (!served) return { verb, ...unknownResource, scope }
    const isServed = info.subresource === '' || Object.hasOwn(served.subresources, info.subresource)
    return { verb, group, version, resource, subresource: isServed ? info.subresource : unknown, scope }
  }
}

interface ClassLabels extends MetricLabels {
  readonly verb: string
  readonly group: string
  readonly version: string
  readonly resource: string
  readonly subresource: string
  readonly scope: string
}

const unknownResource = { group: '', version: '', resource: unknown, subresource: '' } as const

function keyOf({ verb, group, version, resource, subresource, scope }: ClassLabels): string {
  return `${verb}/${group}/${version}/${resource}/${subresource}/${scope}`
}

/** Methods of requests for other paths than those of resources. */
const methods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
/** The labels of the verbs of resources. */
const verbs: ReadonlyMap<string, string> = new Map([
  ['create', 'POST'],
  ['update', 'PUT'],
  ...['get', 'list', 'watch', 'patch', 'delete', 'deletecollection', 'proxy'].map((verb): [string, string] => [
    verb,
    verb.toUpperCase(),
  ]),
])

/** Counts the bytes of a streamed body. Each chunk of a watch is one event. */
class CountingSink implements BodySink {
  readonly #sink: BodySink
  readonly #watch: RequestClass | undefined
  bytes = 0

  constructor(sink: BodySink, watch: RequestClass | undefined) {
    this.#sink = sink
    this.#watch = watch
  }

  write(chunk: Uint8Array): boolean {
    this.bytes += chunk.length
    if (this.#watch) this.#watch.events++
    return this.#sink.write(chunk)
  }

  drained(): Promise<void> {
    return this.#sink.drained()
  }
}

/** Calls `done` when the response has been sent. A streamed response is complete when its stream ends. */
function measured(
  request: ApiRequest,
  response: ApiResponse,
  done: (code: number, bytes: number) => void,
  watch: RequestClass | undefined,
): ApiResponse {
  const { body, status } = response
  if (typeof body !== 'function') return afterResponse(request, response, () => done(status, body?.length ?? 0))
  let counted: CountingSink | undefined
  const streamed: ApiResponse = { ...response, body: (sink) => body((counted = new CountingSink(sink, watch))) }
  return afterResponse(request, streamed, () => done(status, counted?.bytes ?? 0))
}
