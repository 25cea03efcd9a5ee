/** A member as it matters for what to do next. */
export interface MemberFacts {
  readonly id: string
  /** Undefined for one that somebody else added. */
  readonly ordinal: number | undefined
  readonly isLearner: boolean
  /** Whether it has ever run. */
  readonly hasStarted: boolean
  readonly isHealthy: boolean
  readonly isLeader: boolean
  /** Whether it has been without health, or without a vote, for too long. */
  readonly isOverdue: boolean
}

export interface PodFacts {
  /** Whether it will never run again. */
  readonly isOver: boolean
  readonly isStopping: boolean
}

/** All that a decision depends on. */
export interface Facts {
  readonly size: number
  /** Whether the identity of the cluster is on record: from then on somebody may rely on its data. */
  readonly isFounded: boolean
  /** The highest ordinal on record: no member ever had a higher one, unless it is still there. */
  readonly lastOrdinal: number
  /** The ordinals with a Service. */
  readonly names: readonly number[]
  readonly pods: ReadonlyMap<number, PodFacts>
  /** As a majority sees them; undefined if there is none that can be asked. */
  readonly members: readonly MemberFacts[] | undefined
}

/** What to do next. One thing at a time: the facts are looked at anew after each. */
export type Step =
  | { readonly do: 'start'; readonly ordinal: number; readonly joins: boolean }
  | { readonly do: 'add'; readonly ordinal: number }
  | { readonly do: 'promote'; readonly ordinal: number; readonly id: string }
  | { readonly do: 'remove'; readonly ordinal: number; readonly id: string; readonly why: string }
  | { readonly do: 'stop'; readonly ordinal: number }
  | { readonly do: 'forget'; readonly ordinal: number }
  /** Puts down what was found out, before anything is done that relies on it. */
  | { readonly do: 'record' }
  | { readonly do: 'wait'; readonly reason: 'Starting' | 'NoQuorum' | 'Recovering' | 'CatchingUp' }
  | { readonly do: 'nothing' }

/** How many of so many members must agree. */
export const quorumOf = (voters: number): number => Math.floor(voters / 2) + 1

/** The one thing that brings the cluster closer to its size and never takes its quorum away. */
export function planStep(facts: Facts): Step {
  const { members, pods } = facts
  if (!facts.isFounded) {
    if (!pods.has(0)) return { do: 'start', ordinal: 0, joins: false }
    return members === undefined ? { do: 'wait', reason: 'Starting' } : { do: 'record' }
  }
  // Without a majority nothing can be changed. Members that are restarted bring it back; an operator must not begin anew.
  if (members === undefined) return { do: 'wait', reason: 'NoQuorum' }
  return tidy(facts, members) ?? tendLearner(facts, members) ?? tendVoters(facts, members)
}

/** Removes what former members have left: first the pod, then the name. */
function tidy({ lastOrdinal, names, pods }: Facts, members: readonly MemberFacts[]): Step | undefined {
  // A member that nobody remembers once it is gone would leave its name to another.
  if (members.some(({ ordinal = -1 }) => ordinal > lastOrdinal)) return { do: 'record' }
  const isMember = (ordinal: number): boolean => members.some((member) => member.ordinal === ordinal)
  for (const [ordinal, pod] of pods) if (!isMember(ordinal) && !pod.isStopping) return { do: 'stop', ordinal }
  const ordinal = names.find((one) => one <= lastOrdinal && !isMember(one) && !pods.has(one))
  return ordinal === undefined ? undefined : { do: 'forget', ordinal }
}

/** A learner has no vote: whatever becomes of it, the quorum stays. */
function tendLearner({ pods, size }: Facts, members: readonly MemberFacts[]): Step | undefined {
  const learner = members.find(({ isLearner }) => isLearner)
  if (learner === undefined) return undefined
  const { id, ordinal } = learner
  if (ordinal === undefined) return { do: 'wait', reason: 'CatchingUp' }
  const pod = pods.get(ordinal)
  const voters = members.filter(({ isLearner }) => !isLearner)
  if (voters.length >= size) return { do: 'remove', ordinal, id, why: 'it is no longer needed' }
  if (pod === undefined && !learner.hasStarted) return { do: 'start', ordinal, joins: true }
  const why = lossOf(learner, pod)
  if (why !== undefined) return { do: 'remove', ordinal, id, why }
  if (!learner.hasStarted) return { do: 'wait', reason: 'CatchingUp' }
  // A new vote raises the quorum; while a voter is missing, one more failure would be one too many.
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
    // The lost one goes before its replacement comes: one more that does not answer would only raise the quorum.
    if (why !== undefined) return remove(member, why)
  }
  if (voters.length > size) {
    const [victim] = voters.filter(({ ordinal }) => ordinal !== undefined).sort(byDispensability)
    return victim === undefined ? { do: 'nothing' } : remove(victim, 'the cluster shrinks')
  }
  if (sick.length > 0) return { do: 'wait', reason: 'Recovering' }
  if (voters.length < size) return { do: 'add', ordinal: lastOrdinal + 1 }
  const unused = names.find((ordinal) => ordinal > lastOrdinal)
  return unused === undefined ? { do: 'nothing' } : { do: 'forget', ordinal: unused }
}

/** Why a member that does not answer will not come back, if so. */
function lossOf({ hasStarted, isOverdue }: MemberFacts, pod: PodFacts | undefined): string | undefined {
  // What it had voted for is gone with its data; the same member without its memory could vote twice.
  if (pod === undefined && hasStarted) return 'its pod is gone, and its data with it'
  if (pod?.isOver) return 'its pod has ended'
  return isOverdue ? 'it has not answered for too long' : undefined
}

/** Those without health first, the leader last, and younger ones before older ones. */
const byDispensability = (a: MemberFacts, b: MemberFacts): number =>
  Number(a.isHealthy) - Number(b.isHealthy) ||
  Number(a.isLeader) - Number(b.isLeader) ||
  (b.ordinal ?? 0) - (a.ordinal ?? 0)
