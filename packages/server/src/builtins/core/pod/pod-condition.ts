import type { PodLike } from './pod-types.ts'

type PodStatus = NonNullable<PodLike['status']>
type Condition = NonNullable<PodStatus['conditions']>[number]

/** Adds or replaces a condition of a pod. The transition time changes only when the status of the condition does. */
export function setPodCondition(status: PodStatus, now: string, condition: Condition): void {
  const conditions = (status.conditions ??= [])
  const at = conditions.findIndex(({ type }) => type === condition.type)
  const before = conditions[at]
  const kept = before && before.status === condition.status ? before.lastTransitionTime : undefined
  const next = { ...condition, lastTransitionTime: kept ?? now }
  if (before) conditions[at] = next
  else conditions.push(next)
}
