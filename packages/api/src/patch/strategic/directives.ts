import { goValue } from '@kubewright/schema'
import { goType } from '../../fieldset/go-text.ts'
import { isObject, type JsonObject, setOwn } from '../own-property.ts'
import { PatchError } from '../patch-error.ts'

/** The key that says what a patch does with a whole object or list item: `replace`, `delete` or `merge`. */
export const patchDirective = '$patch'
/** The key that lists the fields that stay. */
export const retainKeysDirective = '$retainKeys'
/** Prefix of the key that lists the scalars that leave a list. */
export const deleteListPrefix = '$deleteFromPrimitiveList'
/** Prefix of the key that lists the items of a list in the order they shall have. */
export const orderListPrefix = '$setElementOrder'

/** The list that a parallel list such as `$setElementOrder/containers` belongs to. */
export function listOfDirective(key: string, prefix: string): string {
  const slash = key.indexOf('/')
  if (slash < 0 || key.slice(0, slash) !== prefix) throw badFormat(prefix)
  return key.slice(slash + 1)
}

/** The errors that the API server answers with BadRequest. */
export function badFormat(directive: string): PatchError {
  const what =
    directive === deleteListPrefix
      ? 'primitive list'
      : directive === retainKeysDirective
        ? 'retainKeys'
        : 'setElementOrder list'
  return new PatchError(`invalid patch format of ${what}`, 'BadRequest')
}

/** A list item without the field that tells it apart. */
export function noMergeKey(item: JsonObject, key: string): PatchError {
  return new PatchError(`map: ${goValue(item)} does not contain declared merge key: ${key}`)
}

/** A value of another type than the directive or list needs. */
export function badType(expected: unknown, actual: unknown): PatchError {
  return new PatchError(
    `expected a ${goType(expected)}, but received a ${actual === null ? '%!s(<nil>)' : goType(actual)}`,
  )
}

/** A directive that nobody knows. */
export function badPatchType(directive: unknown, patch: JsonObject): PatchError {
  return new PatchError(`unknown patch type: ${goValue(directive)} in map: ${goValue(patch)}`)
}

/** A list of lists, which strategic merge has no rules for. */
export function listOfLists(): PatchError {
  return new PatchError('lists of lists are not supported', 'Unprocessable')
}

/** Stands for a value that a directive removed. */
export const removed: unique symbol = Symbol('removed by a directive')

/** The value without anything that carries a `$patch`; {@link removed} when it carries one itself. */
export function withoutDirectives(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutDirectives).filter((item) => item !== removed)
  if (!isObject(value)) return value
  if (Object.hasOwn(value, patchDirective)) return removed
  const out: Record<string, unknown> = {}
  for (const key of Object.keys(value)) {
    const kept = withoutDirectives(value[key])
    if (kept !== removed) setOwn(out, key, kept)
  }
  return out
}

/** The value without the nulls of its objects: they delete, and there is nothing to delete in what is new. */
export function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls)
  if (!isObject(value)) return value
  const out: Record<string, unknown> = {}
  for (const key of Object.keys(value)) if (value[key] !== null) setOwn(out, key, withoutNulls(value[key]))
  return out
}
