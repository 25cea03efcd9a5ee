import type { Condition, ConditionDraft } from '@kubewright/schema'
import { toTime } from './time.ts'

/** The status of a condition. */
export type ConditionStatus = Condition['status']

/**
 * Builds a condition draft for a status. The writer fills in `lastTransitionTime` and `observedGeneration`.
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

/** Values that {@link mergeConditions} and {@link setCondition} fill in where a draft has none. */
export interface MergeConditionOptions {
  /** `lastTransitionTime` of a condition whose status changed: a Date, or a text in RFC 3339. */
  readonly now: string | Date
  /** The `metadata.generation` that the drafts were computed from. @default the value of the existing condition */
  readonly observedGeneration?: number | undefined
}

/**
 * Merges `drafts` into `current` by type. Conditions of other types stay, and `lastTransitionTime` changes only with
 * the status. Returns `current` itself when nothing changed, so callers can detect a no-op by identity.
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

/** Like {@link mergeConditions}, for one condition. */
export function setCondition<T extends string>(
  current: readonly Readonly<Condition<T>>[] | undefined,
  draft: Readonly<ConditionDraft<T>>,
  options: MergeConditionOptions,
): readonly Readonly<Condition<T>>[] {
  const conditions = current ?? []
  const at = conditions.findIndex((existing) => existing.type === draft.type)
  const existing = conditions[at]
  const now = draft.lastTransitionTime ?? timeText(options.now)
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

/** The conditions without the given type; the same array when it has none. */
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
  // The types of built-in kinds declare the status of a condition as a plain string.
  readonly status?:
    | { readonly conditions?: readonly { readonly type: string; readonly status: string }[] | undefined }
    | undefined
}

/** The condition of the given type, or undefined. */
export function findCondition<C extends { readonly type: string }>(
  conditions: readonly C[] | undefined,
  type: C['type'],
): C | undefined {
  return conditions?.find((existing) => existing.type === type)
}

/** Whether the condition of the given type is True, in an object or a list of conditions. False when it is absent. */
export function isConditionTrue(of: HasConditions | ConditionList | undefined, type: string): boolean {
  return findCondition(conditionsOf(of), type)?.status === 'True'
}

/** Whether the condition of the given type is False, in an object or a list of conditions. False when it is absent. */
export function isConditionFalse(of: HasConditions | ConditionList | undefined, type: string): boolean {
  return findCondition(conditionsOf(of), type)?.status === 'False'
}

type ConditionList = NonNullable<NonNullable<HasConditions['status']>['conditions']>

function conditionsOf(of: HasConditions | ConditionList | undefined): ConditionList | undefined {
  return isList(of) ? of : of?.status?.conditions
}

const isList = (value: HasConditions | ConditionList | undefined): value is ConditionList => Array.isArray(value)

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

const timeText = (time: string | Date): string => (typeof time === 'string' ? time : toTime(time.getTime()))
