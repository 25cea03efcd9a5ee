import { defineFault, type FaultDefinition, seconds } from '../define/define-fault.ts'
import { leaderless } from './lease-lost.ts'

type Pause = { readonly kind: 'pause'; readonly at: number; readonly for: number }

export const pause: FaultDefinition<Pause> = defineFault<Pause>({
  kind: 'pause',
  class: 'leader',
  summary: 'with two replicas: the leader is paused and resumes later',
  points: (at, { replicas }) => (replicas > 1 ? [{ kind: 'pause', at, for: leaderless }] : []),
  duration: (fault) => fault.for,
  describe: (fault, action) => `the process gets no CPU for ${seconds(fault.for)}, from ${action} on`,
  inject(fault, { process, later }) {
    process.pause()
    later(fault.for, () => process.resume())
  },
  mattersAtReads: () => true,
  // Two leaders matter when the later one does other work.
  penalty: (_, place) => (place === 'during' ? 0 : place === 'last' ? 2 : 6),
  needsReplicas: true,
})
