import { defineFault, type FaultDefinition, seconds } from '../define/define-fault.ts'

type WatchLag = {
  readonly kind: 'watch-lag'
  readonly at: number
  readonly resource: string | undefined
  readonly for: number
}

export const watchLag: FaultDefinition<WatchLag> = defineFault<WatchLag>({
  kind: 'watch-lag',
  class: 'watch',
  summary: 'watch events of one kind, or of all, arrive late',
  points: (at, { watchedResources }) => [
    { kind: 'watch-lag', at, resource: undefined, for: 20_000 },
    ...watchedResources.map((resource): WatchLag => ({ kind: 'watch-lag', at, resource, for: 30_000 })),
  ],
  duration: (fault) => fault.for,
  describe: (fault, action) =>
    `watch events of ${fault.resource ?? 'all kinds'} arrive up to ${seconds(fault.for)} late, from ${action} on`,
  inject: (fault, { network }) => network.lag(fault.resource, fault.for),
})
