import { isJsonObject } from '@kubewright/base'
import { goValue } from '@kubewright/schema'
import { goType } from '../../fieldset/go-text.ts'
import { type JsonObject, setOwn } from '../../own-property.ts'
import { PatchError } from '../patch-error.ts'

/** The key that states what a patch does with a whole object or list item: `replace`, `delete` or `merge`. */
export const patchDirective = '$patch'
/** The key that lists the fields to keep; all others are cleared. */
export const retainKeysDirective = '$retainKeys'
/** Prefix of the key that lists the scalars to remove from a list. */
export const deleteListPrefix = '$deleteFromPrimitiveList'
/** Prefix of the key that lists the items of a list in the desired order. */
export const orderListPrefix = '$setElementOrder'

/** The name of the list that a parallel list such as `$setElementOrder/containers` refers to. Throws for a wrong prefix. */
export function listOfDirective(key: string, prefix: string): string {
  const slash = key.indexOf('/')
  if (slash < 0 || key.slice(0, slash) !== prefix) throw badFormat(prefix)
  return key.slice(slash + 1)
}

/** The error for a malformed directive, which the API server answers with BadRequest. */
export function badFormat(directive: string): PatchError {
  const what =
    directive === deleteListPrefix
      ? 'primitive list'
      : directive === retainKeysDirective
        ? 'retainKeys'
        : 'setElementOrder list'
  return new PatchError(`invalid patch format of ${what}`, 'BadRequest')
}

/** The error for a list item without its merge key. */
export function noMergeKey(item: JsonObject, key: string): PatchError {
  return new PatchError(`map: ${goValue(item)} does not contain declared merge key: ${key}`)
}

/** The error for a value whose type does not fit the directive or list. */
export function badType(expected: unknown, actual: unknown): PatchError {
  return new PatchError(
    `expected a ${goType(expected)}, but received a ${actual === null ? '%!s(<nil>)' : goType(actual)}`,
  )
}

/** The error for an unknown directive. */
export function badPatchType(directive: unknown, patch: JsonObject): PatchError {
  return new PatchError(`unknown patch type: ${goVerbS(directive)} in map: ${goValue(patch)}`)
}

/** A value as Go's verb %s prints it, which is meant for strings and marks everything else, also inside maps and lists. */
function goVerbS(value: unknown): string {
  if (typeof value === 'string') return value
  if (value === null) return '%!s(<nil>)'
  const inner = (item: unknown): string => (item === null ? '<nil>' : goVerbS(item))
  if (Array.isArray(value)) return `[${value.map(inner).join(' ')}]`
  if (!isJsonObject(value)) return `%!s(${goType(value)}=${goValue(value)})`
  const keys = Object.keys(value).sort()
  return `map[${keys.map((key) => `${key}:${inner(value[key])}`).join(' ')}]`
}

/** The error for a list of lists, which strategic merge does not support. */
export function listOfLists(): PatchError {
  return new PatchError('lists of lists are not supported', 'Unprocessable')
}

/** Marks a value that a directive removed. */
export const removed: unique symbol = Symbol('removed by a directive')

/** Removes, at any depth, the objects that have a `$patch` key. Returns {@link removed} when the value itself has one. */
export function withoutDirectives(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutDirectives).filter((item) => item !== removed)
  if (!isJsonObject(value)) return value
  if (Object.hasOwn(value, patchDirective)) return removed
  const out: Record<string, unknown> = {}
  for (const key of Object.keys(value)) {
    const kept = withoutDirectives(value[key])
    if (kept !== removed) setOwn(out, key, kept)
  }
  return out
}

/** Removes the null fields of objects. In a new object, null has nothing to delete. */
export function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls)
  if (!isJsonObject(value)) return value
  const out: Record<string, unknown> = {}
  for (const key of Object.keys(value)) if (value[key] !== null) setOwn(out, key, withoutNulls(value[key]))
  return out
}
