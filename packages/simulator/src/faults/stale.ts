import { defineFault, type FaultDefinition, seconds } from '../define/define-fault.ts'

type Stale = {
  readonly kind: 'stale'
  readonly at: number
  readonly changes?: number | undefined
  readonly lag: number
  readonly resource?: string | undefined
}

/**
 * Crashes after the request. The next process reads lists that allow a cached version from before the last changes, of
 * one resource or all. Without `changes`, from before the last operation of the user.
 */
export const stale: FaultDefinition<Stale> = defineFault<Stale>({
  kind: 'stale',
  class: 'stale',
  summary: 'a new process lists from an API server that lags behind',
  points: (at, { watchedResources }) => [
    { kind: 'stale', at, changes: 3, lag: 20_000 },
    { kind: 'stale', at, lag: 5000 },
    ...watchedResources.flatMap((resource): Stale[] => [
      { kind: 'stale', at, changes: 5, lag: 10_000, resource },
      { kind: 'stale', at, lag: 10_000, resource },
    ]),
  ],
  duration: ({ lag }) => lag,
  describe({ changes, lag, resource = 'all kinds' }, action) {
    const lacking = changes === undefined ? 'the last operation' : `the last ${changes} changes`
    return `the operator crashes right after ${action}; the next process reads lists of ${resource} from an API server that lacks ${lacking} for ${seconds(lag)}`
  },
  inject({ changes, lag, resource }, { process, network, cluster, lasts }) {
    process.restartAfterCrash(0, (next) => {
      lasts(lag)
      void cluster.pastRevision(changes).then((revision) => network.stale(next, resource, revision, lag))
    })
    return { crash: 'between' }
  },
  isDelayed: true,
  penalty: (_, place) => (place === 'last' ? 0 : place === 'during' ? 2 : 4),
  // The old view may not matter.
  simpler: ({ at }) => ({ kind: 'crash', at, when: 'between', downtime: 0 }),
})
