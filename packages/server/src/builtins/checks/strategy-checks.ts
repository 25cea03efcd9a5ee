import { type LabelSelectorLike, type Selector, selectorFrom, validateLabelSelector } from '@kubewright/api'
import { deepEqual } from '@kubewright/base'
import type * as meta from '@kubewright/k8s/meta/v1'
import { compareUtf8, type FieldError, FieldPath, invalid, RawValue, utf8Length } from '@kubewright/schema'
import type { MutableObject } from '../../resource/object.ts'
import type { Unchecked } from '../typed/unchecked.ts'

// What the strategies of most kinds share: immutable fields, selectors, and values shown in errors.

/** A label selector as a client sends it. */
export type UncheckedSelector = Unchecked<meta.LabelSelector> | undefined

export const metadataPath: FieldPath = FieldPath.of('metadata')
/** The path of the spec, where most checks start. */
export const specPath: FieldPath = FieldPath.of('spec')
export const statusPath: FieldPath = FieldPath.of('status')
/** What errors say about a change of a field that cannot change. */
export const immutableText = 'field is immutable'

/** The field must be as it was; `shown` is the value that the error prints. */
export function checkImmutable(
  errors: FieldError[],
  path: FieldPath,
  value: unknown,
  old: unknown,
  shown: unknown = structValue(value),
): void {
  if (!deepEqual(value, old)) errors.push(invalid(path, shown, immutableText))
}

const unsafe = /[<>&\u2028\u2029]/g

/** A value as errors print it: the fields of structs in the order in which they are, as opposed to maps. Simple values stay. */
export function structValue(value: unknown): unknown {
  if (value === undefined) return null
  if (typeof value !== 'object' || value === null) return value
  const escaped = (char: string): string => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`
  return new RawValue(JSON.stringify(value).replace(unsafe, escaped))
}

/** A label selector as errors print it. */
export function selectorValue(selector: UncheckedSelector): unknown {
  if (!selector) return null
  const { matchLabels, matchExpressions } = selector
  return structValue({
    ...(matchLabels && Object.keys(matchLabels).length > 0 ? { matchLabels: sortedMap(matchLabels) } : {}),
    ...(matchExpressions && matchExpressions.length > 0
      ? {
          matchExpressions: matchExpressions.map(({ key = '', operator = '', values }) => ({
            key,
            operator,
            ...(values && values.length > 0 ? { values } : {}),
          })),
        }
      : {}),
  })
}

/** A map with its keys in the order in which Go prints them. */
export function sortedMap<T>(map: Readonly<Record<string, T>>): Record<string, T> {
  return Object.fromEntries(Object.entries(map).sort(([a], [b]) => compareUtf8(a, b)))
}

/** Adds what is wrong with a label selector; no selector is fine. */
export function checkSelector(
  errors: FieldError[],
  path: FieldPath,
  selector: UncheckedSelector,
  allowInvalidLabelValueInSelector = false,
): void {
  if (!selector) return
  errors.push(...validateLabelSelector(asSelector(selector), path, { allowInvalidLabelValueInSelector }))
}

/** Whether a stored selector has values that are refused nowadays; such an object may keep them. */
export function hasInvalidLabelValue(selector: UncheckedSelector): boolean {
  if (!selector) return false
  const strict = validateLabelSelector(asSelector(selector), specPath).length
  return (
    strict > validateLabelSelector(asSelector(selector), specPath, { allowInvalidLabelValueInSelector: true }).length
  )
}

/** What a selector selects, or undefined when it is none. */
export function trySelector(selector: UncheckedSelector): Selector | undefined {
  try {
    return selectorFrom(selector && asSelector(selector))
  } catch {
    return undefined
  }
}

/** The checks and conversions of selectors cope with everything that decoding lets through. */
function asSelector(selector: NonNullable<UncheckedSelector>): LabelSelectorLike {
  return selector as LabelSelectorLike
}

/** How many of a selector's parts are there. */
export function selectorSize(selector: NonNullable<UncheckedSelector>): number {
  return Object.keys(selector.matchLabels ?? {}).length + (selector.matchExpressions ?? []).length
}

/** Adds an error for a text that is longer than the limit, in bytes. */
export function isTooLong(text: string, limit: number): boolean {
  return utf8Length(text) > limit
}

/** A field of an object, typed as its kind declares it before anything was checked. */
export function part<T>(object: MutableObject, field: string): T {
  return (object[field] ?? {}) as T
}
