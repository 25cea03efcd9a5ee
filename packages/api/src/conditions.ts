import type { Condition, ConditionDraft } from '@kubewright/schema'

/** The status of a condition. */
export type ConditionStatus = Condition['status']

/**
 * A condition as a reconciler states it; when it changed last, and for which generation it holds, is filled in on write.
 *
 * @example
 * condition('Ready', ready === wanted, 'RollingOut', `${ready}/${wanted} ready`)
 */
export function condition<const T extends string>(
  type: T,
  status: boolean | 'Unknown',
  reason: string,
  message = '',
): ConditionDraft<T> {
  return { type, status: status === 'Unknown' ? 'Unknown' : status ? 'True' : 'False', reason, message }
}

/** What a merge of conditions takes besides the conditions. */
export interface MergeConditionOptions {
  /** The time that a changed status is stamped with, RFC 3339, unless the draft names one. */
  readonly now: string
  /** The `metadata.generation` that the new conditions were made from. @default what the condition said before */
  readonly observedGeneration?: number | undefined
}

/**
 * The conditions after `drafts` were stated: those of other types stay, and `lastTransitionTime` moves only where the status
 * changed. Returns `current` itself when nothing changed, so that an identity check finds out.
 */
export function mergeConditions<T extends string>(
  current: readonly Readonly<Condition<T>>[] | undefined,
  drafts: readonly Readonly<ConditionDraft<T>>[],
  options: MergeConditionOptions,
): readonly Readonly<Condition<T>>[] {
  let merged = current ?? []
  for (const draft of drafts) merged = setCondition(merged, draft, options)
  return merged
}

/** As {@link mergeConditions}, for one condition. */
export function setCondition<T extends string>(
  current: readonly Readonly<Condition<T>>[] | undefined,
  draft: Readonly<ConditionDraft<T>>,
  options: MergeConditionOptions,
): readonly Readonly<Condition<T>>[] {
  const conditions = current ?? []
  const at = conditions.findIndex((existing) => existing.type === draft.type)
  const existing = conditions[at]
  const now = draft.lastTransitionTime ?? options.now
  const observedGeneration = draft.observedGeneration ?? options.observedGeneration ?? existing?.observedGeneration
  if (existing === undefined) return [...conditions, stamped(draft, now, observedGeneration)]
  const same =
    existing.status === draft.status &&
    existing.reason === draft.reason &&
    existing.message === draft.message &&
    existing.observedGeneration === observedGeneration
  if (same) return conditions
  const since = existing.status === draft.status ? existing.lastTransitionTime : now
  return conditions.map((other, i) => (i === at ? stamped(draft, since, observedGeneration) : other))
}

/** The conditions without the one of that type; the same array when there is none. */
export function removeCondition<T extends string>(
  conditions: readonly Readonly<Condition<T>>[],
  type: T,
): readonly Readonly<Condition<T>>[] {
  return conditions.some((existing) => existing.type === type)
    ? conditions.filter((existing) => existing.type !== type)
    : conditions
}

/** An object that may carry conditions in its status. */
export interface HasConditions {
  // The built-in kinds say of the status no more than that it is a text.
  readonly status?:
    | { readonly conditions?: readonly { readonly type: string; readonly status: string }[] | undefined }
    | undefined
}

/** The condition of that type, or undefined. */
export function findCondition<C extends { readonly type: string }>(
  conditions: readonly C[] | undefined,
  type: C['type'],
): C | undefined {
  return conditions?.find((existing) => existing.type === type)
}

/** Whether the object's condition of that type is True; absent is not. */
export function isConditionTrue(object: HasConditions, type: string): boolean {
  return findCondition(object.status?.conditions, type)?.status === 'True'
}

/** Whether the object's condition of that type is False; absent is not. */
export function isConditionFalse(object: HasConditions, type: string): boolean {
  return findCondition(object.status?.conditions, type)?.status === 'False'
}

function stamped<T extends string>(
  draft: Readonly<ConditionDraft<T>>,
  lastTransitionTime: string,
  observedGeneration: number | undefined,
): Condition<T> {
  const { type, status, reason, message } = draft
  return {
    type,
    status,
    ...(observedGeneration === undefined ? {} : { observedGeneration }),
    lastTransitionTime,
    reason,
    message,
  }
}
