import { type Condition, condition, fromTime, scaledValue, setCondition, toTime } from '@kubewright/api'
import type { Pod, PodDisruptionBudget } from '@kubewright/k8s'
import { isPodReady } from '../workload/pod-state.ts'

type Status = NonNullable<PodDisruptionBudget['status']>

/** How long an eviction that was allowed counts before the pod is gone. */
const deletionTimeout: number = 2 * 60_000

/** What a budget is counted from. */
export interface BudgetFacts {
  readonly budget: PodDisruptionBudget
  /** Those that it selects. */
  readonly pods: readonly Pod[]
  /** How many pods the owners of these pods want; undefined where the budget does not depend on it. */
  readonly expectedScale: number | undefined
  readonly now: number
}

/** The status that a budget should have. */
export interface BudgetOutcome {
  readonly status: Status
  /** Pods whose eviction was allowed, and that are still there. */
  readonly notDeleted: readonly Pod[]
  /** In how many milliseconds to look again, if anything changes by then without anybody's doing. */
  readonly recheckIn?: number
}

/** Whether a budget is a share of what the owners of the pods want, so that their scale has to be known. */
export function dependsOnScale({ spec }: PodDisruptionBudget): boolean {
  return spec?.maxUnavailable !== undefined || typeof spec?.minAvailable === 'string'
}

/** Counts a budget: how many pods are healthy, how many have to be, and how many may go. */
export function budgetStatus({ budget, pods, expectedScale = pods.length, now }: BudgetFacts): BudgetOutcome {
  const evicted = stillEvicted(budget, pods, now)
  const { minAvailable, maxUnavailable } = budget.spec ?? {}
  const desiredHealthy =
    maxUnavailable === undefined
      ? scaledValue(minAvailable ?? 0, expectedScale, true)
      : Math.max(0, expectedScale - scaledValue(maxUnavailable, expectedScale, true))
  const currentHealthy = pods.filter(
    (pod) => pod.metadata.deletionTimestamp === undefined && !(pod.metadata.name in evicted.waiting) && isPodReady(pod),
  ).length
  // A budget without pods allows nothing: the first ones may appear before it is counted again.
  const disruptionsAllowed = expectedScale <= 0 ? 0 : Math.max(0, currentHealthy - desiredHealthy)
  const { generation } = budget.metadata
  const allowed = disruptionsAllowed > 0
  const conditions = setCondition(
    conditionsOf(budget),
    condition('DisruptionAllowed', allowed, allowed ? 'SufficientPods' : 'InsufficientPods'),
    { now: toTime(now), observedGeneration: generation },
  )
  const status: Status = {
    conditions: [...conditions],
    currentHealthy,
    desiredHealthy,
    ...(Object.keys(evicted.waiting).length > 0 ? { disruptedPods: evicted.waiting } : {}),
    disruptionsAllowed,
    expectedPods: expectedScale,
    observedGeneration: generation,
  }
  const { recheckIn, notDeleted } = evicted
  return { status, notDeleted, ...(recheckIn === undefined ? {} : { recheckIn }) }
}

/** The status of a budget that cannot be counted: nothing may go. */
export function failedStatus(budget: PodDisruptionBudget, message: string, now: number): Status {
  const { observedGeneration = 0 } = budget.status ?? {}
  const conditions = setCondition(conditionsOf(budget), condition('DisruptionAllowed', false, 'SyncFailed', message), {
    now: toTime(now),
    observedGeneration,
  })
  const none = { currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 }
  return { ...none, ...(budget.status as Status | undefined), disruptionsAllowed: 0, conditions: [...conditions] }
}

// The server takes no other statuses.
const conditionsOf = ({ status }: PodDisruptionBudget): readonly Condition[] | undefined =>
  status?.conditions as readonly Condition[] | undefined

interface Evicted {
  readonly waiting: Record<string, string>
  readonly notDeleted: Pod[]
  readonly recheckIn?: number
}

function stillEvicted({ status }: PodDisruptionBudget, pods: readonly Pod[], now: number): Evicted {
  const waiting: Record<string, string> = {}
  const notDeleted: Pod[] = []
  const waits: number[] = []
  for (const pod of pods) {
    const { name, deletionTimestamp } = pod.metadata
    const since = status?.disruptedPods?.[name]
    if (since === undefined || deletionTimestamp !== undefined) continue
    const left = fromTime(since) + deletionTimeout - now
    if (left < 0) {
      notDeleted.push(pod)
    } else {
      waiting[name] = since
      waits.push(left)
    }
  }
  return { waiting, notDeleted, ...(waits.length === 0 ? {} : { recheckIn: Math.min(...waits) + 1 }) }
}
