import { type Condition, condition, fromTime, scaledValue, setCondition, toTime } from '@kubewright/api'
import type { Pod, PodDisruptionBudget } from '@kubewright/k8s'
import { isPodReady } from '../workload/pod-state.ts'

type Status = NonNullable<PodDisruptionBudget['status']>

/** How long an allowed eviction counts as in-flight while the pod still exists. */
const deletionTimeout: number = 2 * 60_000

/** Input of {@link budgetStatus}. */
export interface BudgetFacts {
  readonly budget: PodDisruptionBudget
  /** The pods that the budget selects. */
  readonly pods: readonly Pod[]
  /** The desired number of pods of the pods' owners; undefined when the budget does not depend on it. */
  readonly expectedScale: number | undefined
  readonly now: number
}

/** The result of {@link budgetStatus}. */
export interface BudgetOutcome {
  readonly status: Status
  /** Pods whose eviction was allowed more than the deletion timeout ago, but that still exist. */
  readonly notDeleted: readonly Pod[]
  /** The delay in milliseconds after which an in-flight eviction times out; undefined when none is in-flight. */
  readonly recheckIn?: number | undefined
}

/** Whether the budget is relative to the owners' desired number of pods, so that their scale must be read. */
export function dependsOnScale({ spec }: PodDisruptionBudget): boolean {
  return spec?.maxUnavailable !== undefined || typeof spec?.minAvailable === 'string'
}

/** Computes the status of a budget: healthy pods, required healthy pods and allowed disruptions. */
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
  // A budget without pods allows no disruptions: pods may appear before the next reconcile.
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

/** The status of a budget that cannot be computed: it allows no disruptions. */
export function failedStatus(budget: PodDisruptionBudget, message: string, now: number): Status {
  const { observedGeneration = 0 } = budget.status ?? {}
  const conditions = setCondition(conditionsOf(budget), condition('DisruptionAllowed', false, 'SyncFailed', message), {
    now: toTime(now),
    observedGeneration,
  })
  const none = { currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 }
  return { ...none, ...(budget.status as Status | undefined), disruptionsAllowed: 0, conditions: [...conditions] }
}

// The type of the status is any string, but the server accepts only those that Condition allows.
const conditionsOf = ({ status }: PodDisruptionBudget): readonly Condition[] | undefined =>
  status?.conditions as readonly Condition[] | undefined

interface Evicted {
  readonly waiting: Record<string, string>
  readonly notDeleted: Pod[]
  readonly recheckIn?: number | undefined
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
  return {
    waiting,
    notDeleted,
    ...(waits.length === 0 ? {} : { recheckIn: waits.reduce((a, b) => Math.min(a, b)) + 1 }),
  }
}
