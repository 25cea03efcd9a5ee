import { defineFault, type FaultDefinition } from '../define/define-fault.ts'

type WatchCut = { readonly kind: 'watch-cut'; readonly at: number; readonly expired: boolean }

/** Watches end. With `expired`, their resource version is too old, so that the operator lists again. */
export const watchCut: FaultDefinition<WatchCut> = defineFault<WatchCut>({
  kind: 'watch-cut',
  class: 'watch',
  summary: 'watches end and resume, or end with an expired resource version',
  points: (at) => [
    { kind: 'watch-cut', at, expired: false },
    { kind: 'watch-cut', at, expired: true },
  ],
  duration: () => 0,
  describe: ({ expired }, action) =>
    `all watches end${expired ? ' and cannot resume, because their resource version is too old' : ''}, at ${action}`,
  inject: ({ expired }, { network }) => network.cutWatches(expired),
})
