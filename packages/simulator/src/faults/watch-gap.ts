import { defineFault, type FaultDefinition, seconds } from '../define/define-fault.ts'

type WatchGap = { readonly kind: 'watch-gap'; readonly at: number; readonly for: number }

const refusal = { status: 429, message: 'too many requests, please try again later' }

/**
 * Watches end and cannot start again for some time. Their resource version is too old then, so that the operator does
 * not see the states in between.
 */
export const watchGap: FaultDefinition<WatchGap> = defineFault<WatchGap>({
  kind: 'watch-gap',
  class: 'watch',
  summary: 'watches are interrupted, so that the operator does not see intermediate states',
  points: (at) => [{ kind: 'watch-gap', at, for: 30_000 }],
  duration: (fault) => fault.for,
  describe: (fault, action) => `all watches end and cannot start again for ${seconds(fault.for)}, at ${action}`,
  inject(fault, { network }) {
    network.refuse(fault.for, ({ verb }) => (verb === 'watch' ? refusal : undefined))
    network.cutWatches(true)
  },
})
