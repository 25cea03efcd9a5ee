import { isApiError } from '@kubewright/api'
import type { RequestFilter, ServerParts } from '../api-server.ts'
import type { ApiResponse } from '../http/api-request.ts'
import { isLongRunning, isMutating } from '../limits/request-class.ts'
import type { RequestContext } from '../request-context.ts'
import { type Counter, type Histogram, MetricRegistry } from './metric-registry.ts'

const durations = [0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60]
const labels = ['verb', 'group', 'version', 'resource', 'subresource', 'scope']

/** What the server counts about its own work, under the names that dashboards for kube-apiserver know. */
export class ServerMetrics {
  readonly registry: MetricRegistry = new MetricRegistry()
  readonly #requests: Counter
  readonly #durations: Histogram
  readonly #sizes: Histogram
  readonly #inFlight = { mutating: 0, readOnly: 0 }
  readonly #longRunning = new Map<string, { readonly values: readonly string[]; count: number }>()
  readonly #parts: Pick<ServerParts, 'resources' | 'registry' | 'clock'>
  readonly #started: number
  #objects = new Map<string, number>()

  constructor(parts: Pick<ServerParts, 'resources' | 'registry' | 'clock'>) {
    this.#parts = parts
    this.#started = parts.clock.now()
    const { registry } = this
    this.#requests = registry.counter('apiserver_request_total', 'Requests that have been answered.', [
      'code',
      'component',
      ...labels,
    ])
    this.#durations = registry.histogram(
      'apiserver_request_duration_seconds',
      'Time to answer a request.',
      labels,
      durations,
    )
    this.#sizes = registry.histogram(
      'apiserver_response_sizes',
      'Bytes of an answer.',
      labels,
      [1000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000],
    )
    registry.gauge('apiserver_current_inflight_requests', 'Requests that are being served.', ['request_kind'], () =>
      Object.entries(this.#inFlight).map(([kind, count]) => [[kind], count]),
    )
    registry.gauge('apiserver_longrunning_requests', 'Watches and other requests without an end.', labels, () =>
      [...this.#longRunning.values()].map(({ values, count }) => [values, count]),
    )
    registry.gauge('apiserver_storage_objects', 'Stored objects.', ['resource'], () =>
      [...this.#objects].map(([resource, count]) => [[resource], count]),
    )
    registry.gauge(
      'kubernetes_build_info',
      'The Kubernetes version whose behaviour this is.',
      ['git_version', 'major', 'minor'],
      () => [[['v1.35.8', '1', '35'], 1]],
    )
    this.#addProcess()
  }

  /** Measures requests. */
  readonly filter: RequestFilter = async (context, next) => {
    const values = labelsOf(context)
    const long = isLongRunning(context.info)
    const leave = long ? this.#enterLong(values) : this.#enter(isMutating(context.request.method))
    const begin = this.#parts.clock.monotonic()
    const done = (code: number, bytes: number): void => {
      leave()
      this.#requests.add([String(code), 'apiserver', ...values])
      if (long) return
      this.#durations.observe(values, (this.#parts.clock.monotonic() - begin) / 1000)
      if (bytes > 0) this.#sizes.observe(values, bytes)
    }
    try {
      return measured(await next(), done)
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

  #enter(mutating: boolean): () => void {
    const kind = mutating ? 'mutating' : 'readOnly'
    this.#inFlight[kind]++
    return () => {
      this.#inFlight[kind]--
    }
  }

  #enterLong(values: readonly string[]): () => void {
    const key = values.join('/')
    let entry = this.#longRunning.get(key)
    if (!entry) this.#longRunning.set(key, (entry = { values, count: 0 }))
    entry.count++
    return () => {
      entry.count--
    }
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

/** A streamed answer is done when its stream ends. */
function measured(response: ApiResponse, done: (code: number, bytes: number) => void): ApiResponse {
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

function labelsOf({ info, request }: RequestContext): readonly string[] {
  if (!info.isResource) return [request.method, '', '', '', '', '']
  const scope = info.name !== '' ? 'resource' : info.namespace !== '' ? 'namespace' : 'cluster'
  return [verbs[info.verb] ?? info.verb.toUpperCase(), info.group, info.version, info.resource, info.subresource, scope]
}

const verbs: Readonly<Record<string, string>> = {
  create: 'POST',
  update: 'PUT',
}
