import { defineFault, type FaultDefinition, seconds } from '../define/define-fault.ts'

type PodsPending = { readonly kind: 'pods-pending'; readonly at: number; readonly for: number }

export const podsPending: FaultDefinition<PodsPending> = defineFault<PodsPending>({
  kind: 'pods-pending',
  class: 'pods',
  summary: 'new pods stay pending',
  points: (at, { hasPods }) => (hasPods ? [{ kind: 'pods-pending', at, for: 60_000 }] : []),
  duration: (fault) => fault.for,
  describe: (fault, action) => `new pods stay pending for ${seconds(fault.for)}, from ${action} on`,
  inject(fault, { cluster, later }) {
    void cluster.setSchedulable(false)
    later(fault.for, () => void cluster.setSchedulable(true))
  },
})
