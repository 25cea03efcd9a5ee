import { defineFault, type FaultDefinition, seconds } from '../define/define-fault.ts'

type PodsUnready = { readonly kind: 'pods-unready'; readonly at: number; readonly for: number | undefined }

/** Containers are not ready. Without `for`, until the end of the run. */
export const podsUnready: FaultDefinition<PodsUnready> = defineFault<PodsUnready>({
  kind: 'pods-unready',
  class: 'pods',
  summary: 'pods are not ready for a while or until the end',
  points: (at, { hasPods }) =>
    hasPods
      ? [
          { kind: 'pods-unready', at, for: 60_000 },
          { kind: 'pods-unready', at, for: undefined },
        ]
      : [],
  duration: () => 0,
  describe(fault, action) {
    const end = fault.for === undefined ? 'until the end' : `for ${seconds(fault.for)}`
    return `no pod is ready ${end}, from ${action} on`
  },
  inject(fault, { cluster, lasts, later }) {
    void cluster.makeUnready().then((restore) => {
      if (fault.for !== undefined) later(fault.for, restore)
    })
    lasts(1000)
  },
  hasOwnEnd: (fault) => fault.for === undefined,
  // Pods that never become ready show whether the status is true.
  opening: ({ hasPods }) => (hasPods ? [{ kind: 'pods-unready', at: 1, for: undefined }] : []),
})
