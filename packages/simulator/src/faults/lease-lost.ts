import { defineFault, type FaultDefinition, seconds } from '../define/define-fault.ts'

type LeaseLost = { readonly kind: 'lease-lost'; readonly at: number; readonly for: number }

/** Longer than the lease of a leader and the pause between two attempts to acquire it. */
export const leaderless = 360_000

export const leaseLost: FaultDefinition<LeaseLost> = defineFault<LeaseLost>({
  kind: 'lease-lost',
  class: 'leader',
  summary: 'the leader cannot reach its Lease',
  points: (at, { replicas }) => (replicas > 1 ? [{ kind: 'lease-lost', at, for: leaderless }] : []),
  duration: (fault) => fault.for,
  describe: (fault, action) => `the leader cannot reach its Lease for ${seconds(fault.for)}, from ${action} on`,
  inject: (fault, { network, process }) => network.disconnect(fault.for, 'ETIMEDOUT', { process, resource: 'leases' }),
  // Two leaders matter when the later one does other work.
  penalty: (_, place) => (place === 'during' ? 1 : place === 'last' ? 2 : 6),
  needsReplicas: true,
})
