import { deepEqual, isJsonObject } from '@kubewright/base'
import { asJson, getOwn, type JsonObject, setOwn } from '../own-property.ts'
import { sortedCopy } from './json-patch.ts'
import { cannotDecode, PatchError } from './patch-error.ts'

/** Checks that decoded JSON is a JSON merge patch for an object. Throws PatchError with kube-apiserver's message. */
export function decodeMergePatch(patch: unknown): JsonObject {
  if (patch === null) throw new PatchError('Invalid JSON Patch', 'BadRequest')
  if (!isJsonObject(patch)) throw cannotDecode(patch, 'value of type map[string]interface {}', 'error decoding patch: ')
  return patch
}

/**
 * Applies a JSON merge patch (RFC 7386): objects merge field by field, null removes a field, any other value replaces.
 * Never modifies its arguments. As in kube-apiserver, nulls inside objects that are new to the document are dropped,
 * also within new lists. Throws PatchError unless both are objects.
 */
export function applyMergePatch<T extends object>(document: T, patch: unknown): T {
  if (!isJsonObject(document)) throw new PatchError('Invalid JSON Document', 'BadRequest')
  if (!isJsonObject(patch)) throw new PatchError('Invalid JSON Patch', 'BadRequest')
  // The cast is unchecked: a patch can change the type of the document. The caller validates the result.
  return mergeObjects(document, patch) as T
}

function mergeObjects(document: JsonObject, patch: JsonObject): JsonObject {
  const out = sortedCopy(document)
  let added = false
  for (const key of Object.keys(patch)) {
    const value = patch[key]
    if (value === undefined) continue
    if (value === null) {
      delete out[key]
      continue
    }
    const current = getOwn(out, key)
    if (current === undefined) added = true
    setOwn(out, key, mergeValue(current, value))
  }
  return added ? sortedCopy(out) : out
}

function mergeValue(current: unknown, value: unknown): unknown {
  if (!isJsonObject(current)) return withoutNulls(value)
  return isJsonObject(value) ? mergeObjects(current, value) : value
}

/** Drops the null fields of objects at any depth. Null items of lists stay. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls)
  if (!isJsonObject(value)) return value
  const out: Record<string, unknown> = {}
  for (const key of Object.keys(value)) if (value[key] !== null) setOwn(out, key, withoutNulls(value[key]))
  return sortedCopy(out)
}

/**
 * Creates the JSON merge patch that turns `before` into `after`. It cannot express a null in `after`: a merge patch
 * uses null to remove a field.
 */
export function createMergePatch(before: object, after: object): JsonObject {
  return diff(asJson(before), asJson(after))
}

function diff(before: JsonObject, after: JsonObject): JsonObject {
  const patch: Record<string, unknown> = {}
  for (const key of Object.keys(after)) {
    const value = after[key]
    const old = getOwn(before, key)
    if (value === undefined) continue
    if (isJsonObject(old) && isJsonObject(value)) {
      const inner = diff(old, value)
      if (Object.keys(inner).length > 0) setOwn(patch, key, inner)
    } else if (old === undefined || !deepEqual(old, value)) {
      setOwn(patch, key, value)
    }
  }
  for (const key of Object.keys(before)) {
    if (before[key] !== undefined && getOwn(after, key) === undefined) setOwn(patch, key, null)
  }
  return patch
}

/**
 * Creates the JSON merge patch that `kubectl apply` sends for kinds without strategic merge: the additions and changes
 * of `modified` relative to `current`, and the removal of fields that `original` (the last applied object) had and
 * `modified` omits.
 */
export function createThreeWayMergePatch(original: object, modified: object, current: object): JsonObject {
  const changes = filterNulls(createMergePatch(current, modified), false)
  const removals = filterNulls(createMergePatch(original, modified), true)
  return overlay(removals, changes)
}

function filterNulls(patch: JsonObject, keepNulls: boolean): JsonObject {
  const out: Record<string, unknown> = {}
  for (const key of Object.keys(patch)) {
    const value = patch[key]
    if (isJsonObject(value)) {
      const inner = filterNulls(value, keepNulls)
      // An empty object is a value to set, unless filtering emptied it.
      if (Object.keys(inner).length > 0 || (!keepNulls && Object.keys(value).length === 0)) setOwn(out, key, inner)
    } else if ((value === null) === keepNulls) {
      setOwn(out, key, value)
    }
  }
  return out
}

function overlay(base: JsonObject, top: JsonObject): JsonObject {
  const out: Record<string, unknown> = { ...base }
  for (const key of Object.keys(top)) {
    const value = top[key]
    const below = getOwn(out, key)
    setOwn(out, key, isJsonObject(value) && isJsonObject(below) ? overlay(below, value) : value)
  }
  return out
}
