import type { Report } from './database.ts'

/** What was decided: who is the primary of which epoch, and who could be the next. */
export interface Topology {
  readonly epoch: number
  /** Rises with every decision. */
  readonly revision: number
  readonly primary: string
  /** Those that have every confirmed row. The primary waits for at least these. */
  readonly inSync: readonly string[]
  /** One that the primary waits for too, although it may not have everything yet. */
  readonly joining?: string | undefined
  readonly isInitialised: boolean
}

/** An instance as it matters for what to do next. */
export interface InstanceFacts {
  readonly name: string
  readonly ordinal: number
  /** Undefined if it does not answer. */
  readonly report: Report | undefined
  /** Whether it has no pod that will ever run again, or has been silent for too long. */
  readonly isLost: boolean
  readonly isStopping: boolean
}

/** All that a decision depends on. */
export interface Facts {
  readonly wanted: number
  readonly topology: Topology | undefined
  /** Those that have a pod, by name. */
  readonly instances: ReadonlyMap<string, InstanceFacts>
  readonly nameOf: (ordinal: number) => string
}

/** What to do next. One thing at a time: the facts are looked at anew after each. */
export type Step =
  | { readonly do: 'start'; readonly ordinal: number }
  | { readonly do: 'stop'; readonly name: string }
  /** Puts a decision down, on condition that nobody has made another one meanwhile. */
  | { readonly do: 'decide'; readonly topology: Topology; readonly why: string }
  /** Makes the chosen one primary, or tells it whom to wait for. */
  | { readonly do: 'promote'; readonly id: string }
  /** Gives an instance a snapshot of the primary. */
  | { readonly do: 'feed'; readonly name: string; readonly id: string }
  | { readonly do: 'wait'; readonly reason: 'Starting' | 'PrimarySilent' | 'NoCandidate' | 'ReplicaSilent' }
  | { readonly do: 'nothing' }

/** Whom the primary must wait for. The same for the same revision, so that it does not matter how often it is told. */
export const synchronousOf = ({ inSync, joining, primary }: Topology): string[] =>
  without(joining === undefined ? inSync : [...inSync, joining], primary)

/** The one thing that brings the database closer to what is wanted, and never costs a row that was confirmed. */
export function planStep(facts: Facts): Step {
  const { instances, topology } = facts
  if (topology === undefined) {
    const first = instances.get(facts.nameOf(0))
    if (first === undefined) return { do: 'start', ordinal: 0 }
    if (first.report === undefined) return { do: 'wait', reason: 'Starting' }
    const begun = { epoch: 1, revision: 1, primary: first.name, inSync: [first.name], isInitialised: false }
    return { do: 'decide', topology: begun, why: `${first.name} is the first` }
  }
  const primary = instances.get(topology.primary)
  const report = primary?.report
  if (report?.role === 'primary' && report.epoch === topology.epoch) {
    if (topology.isInitialised) return tend(facts, topology, report)
    return decide(topology, { isInitialised: true }, 'it can be used')
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
 * Chooses the replica that has most. All in sync have what was confirmed; what one has beyond that may as well be kept. Those that do not
 * answer stay on record: the new primary waits for them until they are expelled, so that one of them can still be chosen if it is lost,
 * even if that happens before it takes over.
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
  return decide(topology, { ...next, joining: undefined }, `${primary} is lost and ${chosen.name} has most`)
}

const hasData = (one: InstanceFacts | undefined): boolean => one?.report !== undefined && one.report.role !== 'empty'

function tend(facts: Facts, topology: Topology, report: Report): Step {
  return (
    expel(facts, topology) ??
    admit(facts, topology, report) ??
    resize(facts, topology) ??
    feed(facts, topology) ??
    ({ do: 'nothing' } as const)
  )
}

/** Goes on without replicas that are lost: decided first, so that nobody waits in vain for one that could still be chosen. */
function expel({ instances }: Facts, topology: Topology): Step | undefined {
  for (const name of without(topology.inSync, topology.primary)) {
    const one = instances.get(name)
    if (one === undefined || one.isLost || one.report?.role === 'empty') return leave(topology, name, `${name} is lost`)
  }
  return undefined
}

/** Has the primary wait for whom it should. The one that joins is in sync once the primary knows that it has everything. */
function admit({ instances }: Facts, topology: Topology, report: Report): Step | undefined {
  const { epoch, inSync, joining } = topology
  if (report.revision < topology.revision) return promote(report)
  if (joining === undefined) return undefined
  const one = instances.get(joining)
  const isFed = one?.report?.role === 'replica' && one.report.epoch === epoch && !one.isStopping
  if (!isFed) return decide(topology, { joining: undefined }, `${joining} is not there`)
  const { position = 0 } = report.synchronous.find(({ name }) => name === joining) ?? {}
  if (position < report.committed) return promote(report)
  return decide(topology, { inSync: [...inSync, joining], joining: undefined }, `${joining} has caught up`)
}

/** Starts and stops instances. Those that are stopped are given up by the others first. */
function resize({ instances, nameOf, wanted }: Facts, topology: Topology): Step | undefined {
  const { inSync, primary } = topology
  const present = [...instances.values()].filter(({ isStopping }) => !isStopping)
  const useless = present.find(({ isLost, name }) => isLost && !inSync.includes(name))
  if (useless !== undefined) return { do: 'stop', name: useless.name }
  if (present.length > wanted) {
    const isIn = ({ name }: InstanceFacts): number => Number(inSync.includes(name))
    const [victim] = present
      .filter(({ name }) => name !== primary)
      .sort((a, b) => isIn(a) - isIn(b) || b.ordinal - a.ordinal)
    if (victim === undefined) return undefined
    const { name } = victim
    return inSync.includes(name) ? leave(topology, name, 'fewer are wanted') : { do: 'stop', name }
  }
  if (present.length === wanted) return undefined
  let ordinal = 0
  while (instances.has(nameOf(ordinal))) ordinal++
  return { do: 'start', ordinal }
}

/** Brings those in that are not in sync: first a snapshot, unless they have been replicas in this epoch, then the rows since then. */
function feed({ instances }: Facts, topology: Topology): Step | undefined {
  const { epoch, inSync } = topology
  const outside = [...instances.values()].filter(({ isStopping, name }) => !isStopping && !inSync.includes(name))
  for (const { name, report } of outside) {
    if (report === undefined) continue
    const isFed = report.role === 'replica' && report.epoch === epoch
    if (isFed) return decide(topology, { joining: name }, `${name} has a snapshot and needs the rest`)
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

const without = (names: readonly string[], name: string): string[] => names.filter((one) => one !== name)
