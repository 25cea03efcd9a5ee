import { defineBudget } from '@kubewright/base'
import type { Pod, StatefulSet } from '@kubewright/k8s'
import { isPodAvailable, isPodReady, isPodTerminal } from '../workload/pod-state.ts'
import { isWanted, ordinalOf, repairedLabels, revisionLabel, startOrdinal } from './stateful-pod.ts'

/** One action for a stateful set. */
export type StatefulAction =
  /** Create the pod of an ordinal, from the current or the update revision. */
  | { readonly do: 'create'; readonly ordinal: number; readonly revision: 'current' | 'update' }
  | { readonly do: 'delete'; readonly pod: Pod; readonly why: 'finished' | 'scaled' | 'update' }
  /** Create the missing claims of a pending pod. */
  | { readonly do: 'claims'; readonly pod: Pod; readonly ordinal: number }
  /** Restore the identity labels of a pod, and set the owners of its claims according to the retention policy. */
  | { readonly do: 'repair'; readonly pod: Pod; readonly ordinal: number }

/** Input of {@link planStatefulSet}. */
export interface StatefulFacts {
  readonly set: StatefulSet
  /** All pods that the set controls. */
  readonly pods: readonly Pod[]
  readonly currentRevision: string
  readonly updateRevision: string
  readonly now: number
}

/** The maximum number of pods that one plan creates. The events of these pods requeue the set, which creates the next ones. */
const burst = defineBudget(500, {
  group: 'controllers',
  what: 'pods that a StatefulSet creates in one sync',
  answer: 'the next sync continues',
})

/**
 * Plans the next actions for a stateful set. With the policy OrderedReady each pod waits until its predecessors are
 * available, and at most one pod is created or deleted at a time. With the policy Parallel only updates are sequential.
 * The work is bounded by the number of existing pods, whatever `replicas` is.
 */
export function planStatefulSet(facts: StatefulFacts): StatefulAction[] {
  const { set, pods, now } = facts
  if (set.metadata.deletionTimestamp !== undefined) return []
  const ordered = set.spec.podManagementPolicy !== 'Parallel'
  const minReady = set.spec.minReadySeconds ?? 0
  const available = (pod: Pod): boolean => isRunningAndReady(pod) && isPodAvailable(pod, minReady, now)
  const unavailable = (pod: Pod): boolean => !available(pod) || isGoing(pod)
  const slots = new Map<number, Pod>()
  const condemned: { readonly pod: Pod; readonly ordinal: number }[] = []
  for (const pod of pods) {
    const ordinal = ordinalOf(pod, set)
    if (ordinal === undefined) continue
    if (isWanted(ordinal, set)) slots.set(ordinal, pod)
    else condemned.push({ pod, ordinal })
  }
  condemned.sort((a, b) => b.ordinal - a.ordinal)

  const actions: StatefulAction[] = []
  let created = 0
  for (let ordinal = startOrdinal(set); isWanted(ordinal, set); ordinal++) {
    const pod = slots.get(ordinal)
    if (pod === undefined) {
      actions.push({ do: 'create', ordinal, revision: revisionFor(facts, ordinal) })
      if (ordered || ++created === burst) return actions
      continue
    }
    if (isPodTerminal(pod)) {
      // The pod is recreated under the same name when the old one is gone.
      if (!isGoing(pod)) actions.push({ do: 'delete', pod, why: 'finished' })
      if (ordered) return actions
      continue
    }
    if (pod.status?.phase === 'Pending' && !isGoing(pod)) actions.push({ do: 'claims', pod, ordinal })
    if (ordered && unavailable(pod)) return actions
    if (repairedLabels(pod, ordinal) !== undefined || hasClaims(set)) actions.push({ do: 'repair', pod, ordinal })
  }

  if (hasClaims(set)) for (const { pod, ordinal } of condemned) actions.push({ do: 'repair', pod, ordinal })
  // The lowest unavailable pod may be deleted although it is unavailable: it may never become available.
  const ill = [...slots.values(), ...condemned.map(({ pod }) => pod).reverse()].find(unavailable)
  for (const { pod } of condemned) {
    if (isGoing(pod)) {
      if (ordered) return actions
      continue
    }
    if (ordered && pod !== ill && !available(pod)) return actions
    actions.push({ do: 'delete', pod, why: 'scaled' })
    if (ordered) return actions
  }
  const next = nextUpdate(facts, slots, unavailable)
  if (next !== undefined) actions.push({ do: 'delete', pod: next, why: 'update' })
  return actions
}

/** The pod to update next: the highest one with another revision, once all pods above it are available. */
function nextUpdate(
  { set, updateRevision }: StatefulFacts,
  slots: ReadonlyMap<number, Pod>,
  unavailable: (pod: Pod) => boolean,
): Pod | undefined {
  if (set.spec.updateStrategy?.type === 'OnDelete') return undefined
  const partition = set.spec.updateStrategy?.rollingUpdate?.partition ?? 0
  const start = startOrdinal(set)
  // The partition counts replicas, not ordinals.
  for (let ordinal = start + (set.spec.replicas ?? 1) - 1; ordinal >= start + partition; ordinal--) {
    const pod = slots.get(ordinal)
    if (pod === undefined) return undefined
    if (pod.metadata.labels?.[revisionLabel] !== updateRevision && !isGoing(pod)) return pod
    if (unavailable(pod)) return undefined
  }
  return undefined
}

function revisionFor({ set }: StatefulFacts, ordinal: number): 'current' | 'update' {
  const { type = 'RollingUpdate', rollingUpdate } = set.spec.updateStrategy ?? {}
  const index = ordinal - startOrdinal(set)
  if (rollingUpdate !== undefined) return index < (rollingUpdate.partition ?? 0) ? 'current' : 'update'
  return type === 'RollingUpdate' && index < (set.status?.currentReplicas ?? 0) ? 'current' : 'update'
}

const hasClaims = (set: StatefulSet): boolean => (set.spec.volumeClaimTemplates?.length ?? 0) > 0
const isGoing = (pod: Pod): boolean => pod.metadata.deletionTimestamp !== undefined

/** Whether the pod is running and ready, which the next pod waits for. */
export const isRunningAndReady = (pod: Pod): boolean => pod.status?.phase === 'Running' && isPodReady(pod)
