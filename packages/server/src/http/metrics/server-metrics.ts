import { isApiError } from '@kubewright/api'
import type { RequestFilter, ServerParts } from '../../api-server.ts'
import { kubernetesVersion, versionInfo } from '../../discovery/version-path.ts'
import type { ApiResponse } from '../../request/api-request.ts'
import type { RequestContext } from '../../request/request-context.ts'
import { isLongRunning, isMutating } from '../filters/request-class.ts'
import {
  type Counter,
  type CounterSeries,
  type Histogram,
  type HistogramSeries,
  MetricRegistry,
} from './metric-registry.ts'

const durations = [0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60]
const sizes = [1000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000]
const labels = ['verb', 'group', 'version', 'resource', 'subresource', 'scope']
/** Names of resources come from clients, so those beyond this many share one series. */
const maxClasses = 2000

/** Requests with the same labels, and the series that they count in. */
interface RequestClass {
  readonly values: readonly string[]
  readonly byCode: Map<number, CounterSeries>
  readonly duration: HistogramSeries
  readonly size: HistogramSeries
  running: number
}

/** What the server counts about its own work, under the names that dashboards for kube-apiserver know. */
export class ServerMetrics {
  readonly registry: MetricRegistry = new MetricRegistry()
  readonly #requests: Counter
  readonly #durations: Histogram
  readonly #sizes: Histogram
  readonly #watchEvents: Counter
  readonly #classes = new Map<string, RequestClass>()
  readonly #inFlight = { mutating: 0, readOnly: 0 }
  readonly #parts: Pick<ServerParts, 'resources' | 'registry' | 'clock'>
  readonly #started: number
  #objects = new Map<string, number>()

  constructor(parts: Pick<ServerParts, 'resources' | 'registry' | 'clock'>) {
    this.#parts = parts
    this.#started = parts.clock.now()
    const { registry } = this
    const codes = ['code', 'component', ...labels]
    this.#requests = registry.counter('apiserver_request_total', 'Requests that have been answered.', codes)
    const time = 'Time to answer a request.'
    this.#durations = registry.histogram('apiserver_request_duration_seconds', time, labels, durations)
    this.#sizes = registry.histogram('apiserver_response_sizes', 'Bytes of an answer.', labels, sizes)
    const kinds = ['group', 'version', 'resource']
    this.#watchEvents = registry.counter('apiserver_watch_events_total', 'Events sent to watchers.', kinds)
    registry.gauge('apiserver_current_inflight_requests', 'Requests that are being served.', ['request_kind'], () =>
      Object.entries(this.#inFlight).map(([kind, count]) => [[kind], count]),
    )
    registry.gauge('apiserver_longrunning_requests', 'Watches and other requests without an end.', labels, () =>
      [...this.#classes.values()].filter(isLong).map(({ values, running }) => [values, running]),
    )
    registry.gauge('apiserver_storage_objects', 'Stored objects.', ['resource'], () =>
      [...this.#objects].map(([resource, count]) => [[resource], count]),
    )
    const { major = '', minor = '' } = versionInfo
    const build = 'The Kubernetes version whose behaviour this is.'
    registry.gauge('kubernetes_build_info', build, ['git_version', 'major', 'minor'], () => [
      [[kubernetesVersion, major, minor], 1],
    ])
    this.#addProcess()
  }

  /** Measures requests. */
  readonly filter: RequestFilter = async (context, next) => {
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
      found.duration.observe((this.#parts.clock.monotonic() - begin) / 1000)
      if (bytes > 0) found.size.observe(bytes)
    }
    try {
      const response = await next()
      const { info } = context
      const events =
        info.verb === 'watch' ? this.#watchEvents.series([info.group, info.version, info.resource]) : undefined
      return measured(response, done, events)
    } catch (error) {
      done(isApiError(error) ? (error.status.code ?? 500) : 500, 0)
      throw error
    }
  }

  /** The text of /metrics. */
  async render(): Promise<string> {
    const { resources, registry } = this.#parts
    const counts = new Map<string, number>()
    for (const { kind, storage, verbs } of resources.all()) {
      if (!verbs.includes('list')) continue
      const cache = await registry.feed.cache(storage.prefix)
      counts.set(kind.group === '' ? kind.plural : `${kind.plural}.${kind.group}`, cache.size)
    }
    this.#objects = counts
    return this.registry.render()
  }

  #count({ byCode, values }: RequestClass, code: number): void {
    let series = byCode.get(code)
    if (!series) byCode.set(code, (series = this.#requests.series([String(code), 'apiserver', ...values])))
    series.add()
  }

  #classOf({ info, request }: RequestContext): RequestClass {
    const scope = !info.isResource
      ? ''
      : info.name !== ''
        ? 'resource'
        : info.namespace !== ''
          ? 'namespace'
          : 'cluster'
    const verb = info.isResource ? (verbs[info.verb] ?? info.verb.toUpperCase()) : request.method
    const key = `${verb}/${info.group}/${info.version}/${info.resource}/${info.subresource}/${scope}`
    const known = this.#classes.get(key)
    if (known) return known
    const values =
      this.#classes.size < maxClasses
        ? [verb, info.group, info.version, info.resource, info.subresource, scope]
        : [verb, '', '', 'other', '', scope]
    const made: RequestClass = {
      values,
      byCode: new Map(),
      duration: this.#durations.series(values),
      size: this.#sizes.series(values),
      running: 0,
    }
    if (this.#classes.size < maxClasses) this.#classes.set(key, made)
    return made
  }

  #addProcess(): void {
    const { registry } = this
    const single = (name: string, help: string, read: () => number, type: 'gauge' | 'counter' = 'gauge'): void => {
      registry.gauge(name, help, [], () => [[[], read()]], type)
    }
    const cpu = (): number => {
      const { user, system } = process.cpuUsage()
      return (user + system) / 1e6
    }
    single('process_cpu_seconds_total', 'Processor time that has been used.', cpu, 'counter')
    single('process_resident_memory_bytes', 'Memory in use.', () => process.memoryUsage.rss())
    single(
      'process_start_time_seconds',
      'When the server started, in seconds of the epoch.',
      () => this.#started / 1000,
    )
  }
}

const verbs: Readonly<Record<string, string>> = { create: 'POST', update: 'PUT' }

function isLong({ values }: RequestClass): boolean {
  return isLongRunning({ isResource: values[3] !== '', verb: values[0]!.toLowerCase(), subresource: values[4]! })
}

/** A streamed answer is done when its stream ends; each piece of a watch is an event. */
function measured(
  response: ApiResponse,
  done: (code: number, bytes: number) => void,
  events: CounterSeries | undefined,
): ApiResponse {
  const { body, status } = response
  if (typeof body !== 'function') {
    done(status, body?.length ?? 0)
    return response
  }
  return {
    ...response,
    body: async (sink) => {
      let bytes = 0
      const counting = {
        write: (chunk: Uint8Array): boolean => {
          bytes += chunk.length
          events?.add()
          return sink.write(chunk)
        },
        drained: () => sink.drained(),
      }
      try {
        await body(counting)
      } finally {
        done(status, bytes)
      }
    },
  }
}
