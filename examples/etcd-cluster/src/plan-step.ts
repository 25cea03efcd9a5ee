/** The facts about a member that a decision depends on. */
export interface MemberFacts {
  readonly id: string
  /** Undefined for a member that the operator did not add. */
  readonly ordinal: number | undefined
  readonly isLearner: boolean
  /** Whether the member has ever run. */
  readonly hasStarted: boolean
  readonly isHealthy: boolean
  readonly isLeader: boolean
  /** Whether the member has been unhealthy, or a learner, for too long. */
  readonly isOverdue: boolean
}

export interface PodFacts {
  /** Whether the pod will never run again. */
  readonly isOver: boolean
  readonly isStopping: boolean
}

/** Everything that a decision depends on. */
export interface Facts {
  readonly size: number
  /** Whether the cluster id is recorded in the status. From then on, clients may rely on the data. */
  readonly isFounded: boolean
  /** The highest recorded ordinal. A member with a higher ordinal still exists. */
  readonly lastOrdinal: number
  /** The ordinals that have a Service. */
  readonly names: readonly number[]
  readonly pods: ReadonlyMap<number, PodFacts>
  /** The members as seen by a majority; undefined when no majority can be reached. */
  readonly members: readonly MemberFacts[] | undefined
}

/** The next step. Facts are observed again after each step. */
export type Step =
  | { readonly do: 'start'; readonly ordinal: number; readonly joins: boolean }
  | { readonly do: 'add'; readonly ordinal: number }
  | { readonly do: 'promote'; readonly ordinal: number; readonly id: string }
  | { readonly do: 'remove'; readonly ordinal: number; readonly id: string; readonly why: string }
  | { readonly do: 'stop'; readonly ordinal: number }
  | { readonly do: 'forget'; readonly ordinal: number }
  /** Records observed facts in the status before another step relies on them. */
  | { readonly do: 'record' }
  | { readonly do: 'wait'; readonly reason: 'Starting' | 'NoQuorum' | 'Recovering' | 'CatchingUp' }
  | { readonly do: 'nothing' }

/** The number of voters that form a majority. */
export const quorumOf = (voters: number): number => Math.floor(voters / 2) + 1

/** The one step that brings the cluster closer to its size without ever losing its quorum. */
export function planStep(facts: Facts): Step {
  const { members, pods } = facts
  if (!facts.isFounded) {
    if (!pods.has(0)) return { do: 'start', ordinal: 0, joins: false }
    return members === undefined ? { do: 'wait', reason: 'Starting' } : { do: 'record' }
  }
  // Without a majority nothing can be changed. Restarted members restore it; the operator must never start a new cluster.
  if (members === undefined) return { do: 'wait', reason: 'NoQuorum' }
  return tidy(facts, members) ?? tendLearner(facts, members) ?? tendVoters(facts, members)
}

/** Removes what former members left behind: first the pod, then the Service. */
function tidy({ lastOrdinal, names, pods }: Facts, members: readonly MemberFacts[]): Step | undefined {
  // Record a new ordinal first. If the member were removed unrecorded, another member could get its name.
  if (members.some(({ ordinal = -1 }) => ordinal > lastOrdinal)) return { do: 'record' }
  const isMember = (ordinal: number): boolean => members.some((member) => member.ordinal === ordinal)
  for (const [ordinal, pod] of pods) if (!isMember(ordinal) && !pod.isStopping) return { do: 'stop', ordinal }
  const ordinal = names.find((name) => name <= lastOrdinal && !isMember(name) && !pods.has(name))
  return ordinal === undefined ? undefined : { do: 'forget', ordinal }
}

/** Handles the learner, if any. It has no vote, so nothing that happens to it affects the quorum. */
function tendLearner({ pods, size }: Facts, members: readonly MemberFacts[]): Step | undefined {
  const learner = members.find(({ isLearner }) => isLearner)
  if (learner === undefined) return undefined
  const { id, ordinal } = learner
  if (ordinal === undefined) return { do: 'wait', reason: 'CatchingUp' }
  const pod = pods.get(ordinal)
  const voters = members.filter(({ isLearner }) => !isLearner)
  if (voters.length >= size) return { do: 'remove', ordinal, id, why: 'the member is no longer needed' }
  if (pod === undefined && !learner.hasStarted) return { do: 'start', ordinal, joins: true }
  const why = lossOf(learner, pod)
  if (why !== undefined) return { do: 'remove', ordinal, id, why }
  if (!learner.hasStarted) return { do: 'wait', reason: 'CatchingUp' }
  // A promotion raises the quorum. While a voter is unhealthy, the cluster could not tolerate another failure.
  return voters.every(({ isHealthy }) => isHealthy) ? { do: 'promote', ordinal, id } : undefined
}

function tendVoters(facts: Facts, members: readonly MemberFacts[]): Step {
  const { lastOrdinal, names, pods, size } = facts
  const voters = members.filter(({ isLearner }) => !isLearner)
  const healthy = voters.filter(({ isHealthy }) => isHealthy).length
  const remove = ({ id, isHealthy, ordinal }: MemberFacts, why: string): Step => {
    const left = healthy - (isHealthy ? 1 : 0)
    const isSafe = ordinal !== undefined && left >= quorumOf(voters.length - 1)
    return isSafe ? { do: 'remove', ordinal, id, why } : { do: 'wait', reason: 'Recovering' }
  }
  const sick = voters.filter(({ isHealthy }) => !isHealthy)
  for (const member of sick) {
    const why = member.ordinal === undefined ? undefined : lossOf(member, pods.get(member.ordinal))
    // Remove the lost member before adding its replacement: another member that does not respond would only raise the
    // quorum.
    if (why !== undefined) return remove(member, why)
  }
  if (voters.length > size) {
    const [victim] = voters.filter(({ ordinal }) => ordinal !== undefined).sort(byDispensability)
    return victim === undefined ? { do: 'nothing' } : remove(victim, 'the size was reduced')
  }
  if (sick.length > 0) return { do: 'wait', reason: 'Recovering' }
  if (voters.length < size) return { do: 'add', ordinal: lastOrdinal + 1 }
  const unused = names.find((ordinal) => ordinal > lastOrdinal)
  return unused === undefined ? { do: 'nothing' } : { do: 'forget', ordinal: unused }
}

/** The reason why an unresponsive member will not come back, or undefined. */
function lossOf({ hasStarted, isOverdue }: MemberFacts, pod: PodFacts | undefined): string | undefined {
  // Its votes are lost with its data. The same member with empty data could vote twice.
  if (pod === undefined && hasStarted) return 'the pod and its data were deleted'
  if (pod?.isOver) return 'the pod has terminated'
  return isOverdue ? 'the member did not respond in time' : undefined
}

/** Orders members for removal: unhealthy ones first, the leader last, newer ones before older ones. */
const byDispensability = (a: MemberFacts, b: MemberFacts): number =>
  Number(a.isHealthy) - Number(b.isHealthy) ||
  Number(a.isLeader) - Number(b.isLeader) ||
  (b.ordinal ?? 0) - (a.ordinal ?? 0)
