import type { Report } from './database.ts'

/** The recorded decision: the primary of an epoch, and the instances that may succeed it. */
export interface Topology {
  readonly epoch: number
  /** Increases with every decision. */
  readonly revision: number
  readonly primary: string
  /** The instances that have every confirmed row. The primary waits for at least these. */
  readonly inSync: readonly string[]
  /** A replica that the primary also waits for, although it may not have every row yet. */
  readonly joining?: string | undefined
  readonly isInitialised: boolean
}

/** The facts about an instance that a decision depends on. */
export interface InstanceFacts {
  readonly name: string
  readonly ordinal: number
  /** Undefined if the instance does not respond. */
  readonly report: Report | undefined
  /** Whether the pod will never run again, or the instance has been silent for too long. */
  readonly isLost: boolean
  readonly isStopping: boolean
}

/** Everything that a decision depends on. */
export interface Facts {
  readonly wanted: number
  readonly topology: Topology | undefined
  /** The instances with a pod, by name. */
  readonly instances: ReadonlyMap<string, InstanceFacts>
  readonly nameOf: (ordinal: number) => string
}

/** The next step. Facts are observed again after each step. */
export type Step =
  | { readonly do: 'start'; readonly ordinal: number }
  | { readonly do: 'stop'; readonly name: string }
  /** Records a decision, on the condition that no other decision was recorded meanwhile. */
  | { readonly do: 'decide'; readonly topology: Topology; readonly why: string }
  /** Promotes the recorded primary, or changes the replicas that it waits for. */
  | { readonly do: 'promote'; readonly id: string }
  /** Gives an instance a snapshot of the primary. */
  | { readonly do: 'feed'; readonly name: string; readonly id: string }
  | { readonly do: 'wait'; readonly reason: 'Starting' | 'PrimarySilent' | 'NoCandidate' | 'ReplicaSilent' }
  | { readonly do: 'nothing' }

/** The replicas that the primary must wait for. Depends only on the topology, so promoting repeatedly is idempotent. */
export const synchronousOf = ({ inSync, joining, primary }: Topology): string[] =>
  without(joining === undefined ? inSync : [...inSync, joining], primary)

/** The one step that brings the database closer to its spec without ever losing a confirmed row. */
export function planStep(facts: Facts): Step {
  const { instances, topology } = facts
  if (topology === undefined) {
    const first = instances.get(facts.nameOf(0))
    if (first === undefined) return { do: 'start', ordinal: 0 }
    if (first.report === undefined) return { do: 'wait', reason: 'Starting' }
    const initial = { epoch: 1, revision: 1, primary: first.name, inSync: [first.name], isInitialised: false }
    return { do: 'decide', topology: initial, why: `${first.name} is the first instance` }
  }
  const primary = instances.get(topology.primary)
  const report = primary?.report
  if (report?.role === 'primary' && report.epoch === topology.epoch) {
    if (topology.isInitialised) return tend(facts, topology, report)
    return decide(topology, { isInitialised: true }, 'the database is initialised')
  }
  if (!topology.isInitialised) {
    if (primary === undefined) return { do: 'start', ordinal: 0 }
    return report === undefined ? { do: 'wait', reason: 'Starting' } : promote(report)
  }
  const hasData = report !== undefined && report.role !== 'empty'
  if (hasData) return report.epoch < topology.epoch ? promote(report) : { do: 'wait', reason: 'PrimarySilent' }
  if (report === undefined && primary !== undefined && !primary.isLost) return { do: 'wait', reason: 'PrimarySilent' }
  return failOver(facts, topology)
}

/**
 * Chooses the replica with the most rows. All in-sync replicas have every confirmed row; additional rows may be kept.
 * Replicas that do not respond stay in sync: the new primary waits for them until they are expelled. So if the new
 * primary is lost, even before it takes over, one of them can be chosen.
 */
function failOver({ instances }: Facts, topology: Topology): Step {
  const { epoch, primary } = topology
  const inSync = without(topology.inSync, primary).filter((name) => instances.get(name)?.report?.role !== 'empty')
  const candidates = inSync
    .map((name) => instances.get(name))
    .filter((one): one is InstanceFacts & { readonly report: Report } => hasData(one))
    .sort(
      (a, b) =>
        b.report.lastEpoch - a.report.lastEpoch || b.report.position - a.report.position || a.ordinal - b.ordinal,
    )
  const [chosen] = candidates
  if (chosen === undefined) return { do: 'wait', reason: 'NoCandidate' }
  const next = { epoch: epoch + 1, primary: chosen.name, inSync: [chosen.name, ...without(inSync, chosen.name)] }
  return decide(topology, { ...next, joining: undefined }, `${primary} is lost and ${chosen.name} has the most rows`)
}

const hasData = (instance: InstanceFacts | undefined): boolean =>
  instance?.report !== undefined && instance.report.role !== 'empty'

function tend(facts: Facts, topology: Topology, report: Report): Step {
  return (
    expel(facts, topology) ??
    admit(facts, topology, report) ??
    resize(facts, topology) ??
    feed(facts, topology) ??
    ({ do: 'nothing' } as const)
  )
}

/**
 * Removes lost replicas from the in-sync set. The decision is recorded first, so that no candidate for primary is
 * ignored too early.
 */
function expel({ instances }: Facts, topology: Topology): Step | undefined {
  for (const name of without(topology.inSync, topology.primary)) {
    const instance = instances.get(name)
    if (instance === undefined || instance.isLost || instance.report?.role === 'empty')
      return leave(topology, name, `${name} is lost`)
  }
  return undefined
}

/**
 * Updates the replicas that the primary waits for. A joining replica becomes in-sync when the primary knows that it has
 * every row.
 */
function admit({ instances }: Facts, topology: Topology, report: Report): Step | undefined {
  const { epoch, inSync, joining } = topology
  if (report.revision < topology.revision) return promote(report)
  if (joining === undefined) return undefined
  const instance = instances.get(joining)
  const isFed = instance?.report?.role === 'replica' && instance.report.epoch === epoch && !instance.isStopping
  if (!isFed) return decide(topology, { joining: undefined }, `${joining} is not available`)
  const { position = 0 } = report.synchronous.find(({ name }) => name === joining) ?? {}
  if (position < report.committed) return promote(report)
  return decide(topology, { inSync: [...inSync, joining], joining: undefined }, `${joining} has caught up`)
}

/** Starts and stops instances. An instance is removed from the in-sync set before it is stopped. */
function resize({ instances, nameOf, wanted }: Facts, topology: Topology): Step | undefined {
  const { inSync, primary } = topology
  const present = [...instances.values()].filter(({ isStopping }) => !isStopping)
  const useless = present.find(({ isLost, name }) => isLost && !inSync.includes(name))
  if (useless !== undefined) return { do: 'stop', name: useless.name }
  if (present.length > wanted) {
    const inSyncRank = ({ name }: InstanceFacts): number => Number(inSync.includes(name))
    const [victim] = present
      .filter(({ name }) => name !== primary)
      .sort((a, b) => inSyncRank(a) - inSyncRank(b) || b.ordinal - a.ordinal)
    if (victim === undefined) return undefined
    const { name } = victim
    return inSync.includes(name) ? leave(topology, name, 'the number of instances was reduced') : { do: 'stop', name }
  }
  if (present.length === wanted) return undefined
  let ordinal = 0
  while (instances.has(nameOf(ordinal))) ordinal++
  return { do: 'start', ordinal }
}

/**
 * Brings other instances in sync: first with a snapshot, unless they are replicas of this epoch, then with the rows
 * since then.
 */
function feed({ instances }: Facts, topology: Topology): Step | undefined {
  const { epoch, inSync } = topology
  const outside = [...instances.values()].filter(({ isStopping, name }) => !isStopping && !inSync.includes(name))
  for (const { name, report } of outside) {
    if (report === undefined) continue
    const isFed = report.role === 'replica' && report.epoch === epoch
    if (isFed) return decide(topology, { joining: name }, `${name} has a snapshot and is joining`)
    return { do: 'feed', name, id: report.id }
  }
  const isSilent = [...instances.values()].some(({ report, isStopping }) => report === undefined && !isStopping)
  return isSilent ? { do: 'wait', reason: outside.length > 0 ? 'Starting' : 'ReplicaSilent' } : undefined
}

const promote = ({ id }: Report): Step => ({ do: 'promote', id })

const leave = (topology: Topology, name: string, why: string): Step =>
  decide(topology, { inSync: without(topology.inSync, name) }, why)

const decide = (topology: Topology, change: Partial<Topology>, why: string): Step => ({
  do: 'decide',
  topology: { ...topology, ...change, revision: topology.revision + 1 },
  why,
})

const without = (names: readonly string[], name: string): string[] => names.filter((other) => other !== name)
