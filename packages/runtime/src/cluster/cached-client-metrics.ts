import type { GroupKind } from '@kubewright/api'
import type { MetricDefinition, MetricLabels, MetricSink } from '@kubewright/base'

const liveReads = 'kubewright_client_live_reads_total'
const overlayEntries = 'kubewright_client_overlay_entries'
const overlayExpired = 'kubewright_client_overlay_expired_total'

/** The metrics of a client with a cache. */
export const cachedClientMetrics: readonly MetricDefinition[] = Object.freeze([
  {
    name: liveReads,
    type: 'counter',
    help: 'Number of reads that were sent to the API server, by the reason why the cache was not used.',
    labels: ['group', 'kind', 'reason'],
  },
  {
    name: overlayEntries,
    type: 'gauge',
    help: 'Number of own writes that reads include although the cache has not received them yet.',
    labels: [],
  },
  {
    name: overlayExpired,
    type: 'counter',
    help: 'Number of own writes that expired before the cache received them.',
    labels: ['group', 'kind'],
  },
])

/**
 * Why a read bypassed the cache. `asked`: the caller requested it. `not_selected`: the cache has only a selection of the
 * objects, and the read may concern others.
 */
export type LiveReason = 'asked' | 'not_cached' | 'not_selected' | 'not_synced' | 'outdated'

const none: MetricLabels = Object.freeze({})

/** Reports the metrics of one client. */
export class CachedClientMetrics {
  readonly #sink: MetricSink | undefined
  readonly #labels = new Map<string, MetricLabels>()

  constructor(sink: MetricSink | undefined) {
    this.#sink = sink
  }

  liveRead({ group, kind }: GroupKind, reason: LiveReason): void {
    if (this.#sink === undefined) return
    this.#sink.add(liveReads, this.#frozen({ group, kind, reason }), 1)
  }

  overlaySize(size: number): void {
    this.#sink?.set(overlayEntries, none, size)
  }

  expired({ group, kind }: GroupKind, count: number): void {
    if (this.#sink === undefined) return
    this.#sink.add(overlayExpired, this.#frozen({ group, kind }), count)
  }

  // Sinks look up a series by the identity of its labels object.
  #frozen(labels: MetricLabels): MetricLabels {
    const name = Object.values(labels).join('\n')
    let known = this.#labels.get(name)
    if (known === undefined) {
      known = Object.freeze(labels)
      this.#labels.set(name, known)
    }
    return known
  }
}
