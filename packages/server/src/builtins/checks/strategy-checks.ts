import { type LabelSelectorLike, type Selector, selectorFrom, validateLabelSelector } from '@kubewright/api'
import { append, compareUtf8, utf8Length } from '@kubewright/base'
import type * as meta from '@kubewright/k8s/meta/v1'
import { type FieldError, FieldPath, invalid, RawValue } from '@kubewright/schema'
import { escapeHtml } from '../../codec/json/go-value.ts'
import type { MutableObject } from '../../resource/object.ts'
import { semanticEqual } from '../../resource/semantic-equal.ts'
import type { Unchecked } from '../typed/unchecked.ts'
import { namedString } from './field-checks.ts'

// Helpers that the strategies of most kinds share: immutable fields, selectors and the values in error messages.

/** A label selector as a client sends it. */
export type UncheckedSelector = Unchecked<meta.LabelSelector> | undefined

/** The path of the metadata. */
export const metadataPath: FieldPath = FieldPath.of('metadata')
/** The path of the spec. */
export const specPath: FieldPath = FieldPath.of('spec')
/** The path of the status. */
export const statusPath: FieldPath = FieldPath.of('status')
/** The message for a change of an immutable field. */
export const immutableText = 'field is immutable'

/** Checks that a field has not changed. `shown` is the value in the error. */
export function checkImmutable(
  errors: FieldError[],
  path: FieldPath,
  value: unknown,
  old: unknown,
  shown: unknown = structValue(value),
): void {
  if (!semanticEqual(value, old)) errors.push(invalid(path, shown, immutableText))
}

/** As {@link checkImmutable}, for a field of a Go string type other than `string`, or behind a pointer, which errors show as JSON. */
export function checkImmutableNamed(errors: FieldError[], path: FieldPath, value: unknown, old: unknown): void {
  checkImmutable(errors, path, value, old, typeof value === 'string' ? namedString(value) : structValue(value))
}

/** A value in the form that errors show. The fields of an object keep their order, as those of a Go struct do. */
export function structValue(value: unknown): unknown {
  if (value === undefined) return null
  if (typeof value !== 'object' || value === null) return value
  return new RawValue(escapeHtml(JSON.stringify(value)))
}

/** A label selector in the form that errors show. */
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

/** A map with sorted keys, as Go's encoder writes maps. */
export function sortedMap<T>(map: Readonly<Record<string, T>>): Record<string, T> {
  return Object.fromEntries(Object.entries(map).sort(([a], [b]) => compareUtf8(a, b)))
}

/** Checks a label selector. A missing one is valid. */
export function checkSelector(
  errors: FieldError[],
  path: FieldPath,
  selector: UncheckedSelector,
  allowInvalidLabelValueInSelector = false,
): void {
  if (!selector) return
  append(errors, validateLabelSelector(asSelector(selector), path, { allowInvalidLabelValueInSelector }))
}

/** Whether a stored selector has label values that are invalid by today's rules. An update may keep them. */
export function hasInvalidLabelValue(selector: UncheckedSelector): boolean {
  if (!selector) return false
  const strict = validateLabelSelector(asSelector(selector), specPath).length
  return (
    strict > validateLabelSelector(asSelector(selector), specPath, { allowInvalidLabelValueInSelector: true }).length
  )
}

/** Parses a label selector; undefined if it is invalid. */
export function trySelector(selector: UncheckedSelector): Selector | undefined {
  try {
    return selectorFrom(selector && asSelector(selector))
  } catch {
    return undefined
  }
}

/** Casts a selector to the type of the parser, which copes with every decoded value. */
function asSelector(selector: NonNullable<UncheckedSelector>): LabelSelectorLike {
  return selector as LabelSelectorLike
}

/** The number of requirements of a selector. */
export function selectorSize(selector: NonNullable<UncheckedSelector>): number {
  return Object.keys(selector.matchLabels ?? {}).length + (selector.matchExpressions ?? []).length
}

/** Whether a text has more than `limit` bytes in UTF-8. */
export function isTooLong(text: string, limit: number): boolean {
  return utf8Length(text) > limit
}

/** A field of an object as an unchecked type. A missing field yields an empty object, which is not stored in the object. */
export function part<T>(object: MutableObject, field: string): T {
  return (object[field] ?? {}) as T
}
