import { deepEqual, isJsonObject } from '@kubewright/base'
import type { JSONSchemaProps } from '@kubewright/schema'
import { goValue } from '@kubewright/schema'
import { asJson, getOwn, type JsonObject, setOwn } from '../../own-property.ts'
import { cannotDecode, PatchError } from '../patch-error.ts'
import {
  badFormat,
  badPatchType,
  badType,
  deleteListPrefix,
  listOfDirective,
  noMergeKey,
  orderListPrefix,
  patchDirective,
  removed,
  retainKeysDirective,
  withoutDirectives,
  withoutNulls,
} from './directives.ts'
import { deletes, elementType, identityOf, isMapType, KeyIndex, mergeKeyOf, mergeOrders } from './element-order.ts'
import { listMeta, type PatchMeta, structMeta } from './patch-meta.ts'

/**
 * Applies a strategic merge patch: like a merge patch, but lists with a patch strategy in the schema merge item by
 * item, and directives (`$patch`, `$retainKeys`, `$setElementOrder/…`, `$deleteFromPrimitiveList/…`) are applied. Never
 * modifies its arguments. Throws PatchError with Kubernetes' message.
 */
export function applyStrategicMergePatch<T extends object>(document: T, patch: object, schema: JSONSchemaProps): T {
  // The cast is unchecked: a patch can change the type of the document. The caller validates the result.
  return mergeMaps(asJson(document), asJson(patch), schema, true) as T
}

/**
 * The patch as kube-apiserver prints it in errors about its result: merging has removed directives, and nulls in objects that the document
 * does not have. Never modifies its arguments.
 */
export function printedStrategicPatch(document: object, patch: object): JsonObject {
  const { [patchDirective]: directive, ...replacement } = asJson(patch)
  if (directive === 'replace') return replacement
  if (directive !== undefined) return asJson(patch)
  const out: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(asJson(patch))) {
    if (key === retainKeysDirective || key.startsWith(orderListPrefix)) continue
    if (Object.hasOwn(patch, `${orderListPrefix}/${key}`)) continue
    const current = getOwn(asJson(document), key)
    if (value === null || value === undefined) setOwn(out, key, value)
    else if (isJsonObject(current) && isJsonObject(value)) setOwn(out, key, printedStrategicPatch(current, value))
    else setOwn(out, key, Array.isArray(current) && Array.isArray(value) ? value : afterRemoval(withoutNulls(value)))
  }
  return out
}

/** A value of a patch after the removal of its directives, which changes objects in place but creates new lists. */
function afterRemoval(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(afterRemoval)
  const kept = withoutDirectives(value)
  return kept === removed ? value : kept
}

/**
 * Checks that decoded JSON is a strategic merge patch. Throws PatchError with kube-apiserver's message. Null is the
 * empty patch.
 */
export function decodeStrategicMergePatch(patch: unknown): JsonObject {
  if (patch === null) return {}
  if (!isJsonObject(patch)) throw cannotDecode(patch, 'value of type map[string]interface {}')
  return patch
}

/**
 * Merges a patch into an object or, unless `apply`, into another patch. In the latter case directives and nulls are
 * kept for the object that the resulting patch will be applied to.
 */
export function mergeMaps(
  original: JsonObject,
  patch: JsonObject,
  schema: JSONSchemaProps,
  apply: boolean,
): JsonObject {
  if (Object.hasOwn(patch, patchDirective)) return applyDirective(patch)
  const { [retainKeysDirective]: retained, ...rest } = patch as Record<string, unknown>
  const out: Record<string, unknown> =
    retained === undefined
      ? { ...original }
      : apply
        ? retainedFields(original, rest, retained)
        : withSharedDirective(original, retained)
  mergeOrderedLists(out, rest, schema, apply)
  // Deletions first: Kubernetes processes keys in random order, and this order lets a patch delete and add the same scalar.
  const keys = Object.keys(rest)
  for (const key of keys) if (key.startsWith(deleteListPrefix)) mergeField(out, key, rest[key], schema, apply)
  for (const key of keys) if (!key.startsWith(deleteListPrefix)) mergeField(out, key, rest[key], schema, apply)
  return out
}

function applyDirective(patch: JsonObject): JsonObject {
  const { [patchDirective]: directive, ...rest } = patch
  if (directive === 'replace') return rest
  if (directive === 'delete') return {}
  throw badPatchType(directive, patch)
}

/** The fields of an object that `$retainKeys` lists. Throws PatchError if the patch sets a field that the directive omits. */
function retainedFields(original: JsonObject, patch: JsonObject, listed: unknown): Record<string, unknown> {
  if (!Array.isArray(listed)) throw badFormat(retainKeysDirective)
  const names = new Set<unknown>(listed)
  const isListed = ([key]: [string, unknown]): boolean => names.has(key)
  const setsField = ([key, value]: [string, unknown]): boolean =>
    value !== null && !key.startsWith(deleteListPrefix) && !key.startsWith(orderListPrefix)
  if (!Object.entries(patch).filter(setsField).every(isListed)) throw badFormat(retainKeysDirective)
  return Object.fromEntries(Object.entries(original).filter(isListed))
}

/** A patch with the `$retainKeys` of a second patch. The two must agree if both have the directive. */
function withSharedDirective(first: JsonObject, listed: unknown): Record<string, unknown> {
  const known = Object.hasOwn(first, retainKeysDirective) ? first[retainKeysDirective] : listed
  if (deepEqual(known, listed)) return { ...first, [retainKeysDirective]: listed }
  throw new PatchError(
    `${goValue(known)} and ${goValue(listed)} are not deep equal: this may happen when calculating the 3-way diff patch`,
  )
}

/** Merges, in place, each list that has a `$setElementOrder` directive. Removes the list and its directive from the patch. */
function mergeOrderedLists(
  out: Record<string, unknown>,
  patch: Record<string, unknown>,
  schema: JSONSchemaProps,
  apply: boolean,
): void {
  for (const directive of Object.keys(patch).filter((key) => key.startsWith(orderListPrefix))) {
    const order = patch[directive]
    if (!apply) {
      if (Object.hasOwn(out, directive) && !deepEqual(out[directive], order)) throw badFormat(orderListPrefix)
      out[directive] = order
    }
    if (!Array.isArray(order)) throw badType([], order)
    const key = listOfDirective(directive, orderListPrefix)
    const merged = orderedList(listIn(out, key), listIn(patch, key), order, listMeta(schema, key), apply)
    if (merged !== undefined) setOwn(out, key, merged)
    delete patch[directive]
    delete patch[key]
  }
}

/** The items of a live list and of a patch in the given order; undefined if there is neither list. */
function orderedList(
  live: readonly unknown[] | undefined,
  patched: readonly unknown[] | undefined,
  order: readonly unknown[],
  meta: PatchMeta,
  apply: boolean,
): readonly unknown[] | undefined {
  const { mergeKey } = meta
  checkOrder(patched ?? [], order, mergeKey)
  if (live === undefined && patched === undefined) return undefined
  const maps = isMapType(elementType(live ?? [], patched ?? []))
  const arrange = (items: readonly unknown[], liveOrder: readonly unknown[]): readonly unknown[] =>
    mergeOrders(items, order, liveOrder, mergeKey, maps)
  if (live === undefined) return arrange(withoutDirectives(patched) as unknown[], [])
  if (patched === undefined) return arrange(live, live)
  const merged = mergeLists(live, patched, meta, false, apply)
  return arrange(merged, maps ? orderAfterDeletions(live, merged, patched, mergeKey) : live)
}

/**
 * The live order used for interleaving. As in Kubernetes, items that a patch adds take the positions that its deletions
 * free before the order is evaluated.
 */
function orderAfterDeletions(
  live: readonly unknown[],
  merged: readonly unknown[],
  patched: readonly unknown[],
  mergeKey: string,
): readonly unknown[] {
  const present = new Set(merged.map((item) => identityOf(item, mergeKey, true)))
  const kept = live.filter((item) => present.has(identityOf(item, mergeKey, true)))
  const known = new Set(kept.map((item) => identityOf(item, mergeKey, true)))
  const added = patched.filter((item) => {
    const identity = identityOf(item, mergeKey, true)
    return present.has(identity) && !known.has(identity)
  })
  return kept.concat(added.slice(0, live.length - kept.length))
}

function listIn(object: JsonObject, key: string): readonly unknown[] | undefined {
  const value = getOwn(object, key)
  if (value === undefined) return undefined
  if (!Array.isArray(value)) throw badType([], value)
  return value
}

/** Throws PatchError unless the items of a patch are in the order of its `$setElementOrder`. */
function checkOrder(patched: readonly unknown[], order: readonly unknown[], mergeKey: string): void {
  if (patched.length === 0 || order.length === 0) return
  if (mergeKey !== '') for (const item of patched) if (!isJsonObject(item)) throw badType({}, item)
  const items = patched.filter(
    (item) => !(isJsonObject(item) && (deletes(item) || Object.hasOwn(item, patchDirective))),
  )
  const identity = (item: unknown): unknown => (mergeKey === '' ? item : mergeKeyOf(item, mergeKey))
  let next = 0
  for (const item of order) if (next < items.length && identity(items[next]) === identity(item)) next++
  if (next < items.length) {
    throw new PatchError(
      `The order in patch list:\n${goValue(patched)}\n doesn't match ${orderListPrefix} list:\n${goValue(order)}\n`,
    )
  }
}

function mergeField(
  out: Record<string, unknown>,
  patchKey: string,
  value: unknown,
  schema: JSONSchemaProps,
  apply: boolean,
): void {
  const isDeleteList = patchKey.startsWith(deleteListPrefix)
  if (isDeleteList && !apply) {
    setOwn(out, patchKey, value)
    return
  }
  const key = isDeleteList ? listOfDirective(patchKey, deleteListPrefix) : patchKey
  if (value === undefined) return
  if (value === null) {
    delete out[key]
    if (apply) return
  }
  const current = getOwn(out, key)
  if (isJsonObject(current) && isJsonObject(value)) {
    const meta = structMeta(schema, key)
    setOwn(out, key, meta.strategy === 'replace' ? value : mergeMaps(current, value, meta.schema, apply))
  } else if (Array.isArray(current) && Array.isArray(value)) {
    setOwn(out, key, mergeLists(current, value, listMeta(schema, key), isDeleteList, apply))
  } else if (!isDeleteList) {
    const kept = withoutDirectives(apply ? withoutNulls(value) : value)
    if (kept === removed) delete out[key]
    else setOwn(out, key, kept)
  }
}

function mergeLists(
  live: readonly unknown[],
  patch: readonly unknown[],
  { schema, strategy, mergeKey }: PatchMeta,
  isDeleteList: boolean,
  apply: boolean,
): readonly unknown[] {
  if (strategy !== 'merge' && !isDeleteList) return patch
  if (live.length === 0 && patch.length === 0) return live
  const maps = isMapType(elementType(live, patch))
  if (!maps) {
    if (apply && isDeleteList) {
      const deleted = new Set(patch)
      return live.filter((item) => !deleted.has(item))
    }
    return mergeOrders([...new Set([...live, ...patch])], patch, live, mergeKey, false)
  }
  if (mergeKey === '') throw new PatchError('cannot merge lists without merge key for struct')
  const [kept, items] = applyItemDirectives(live, patch as readonly JsonObject[], mergeKey)
  const merged = [...kept]
  const index = new KeyIndex()
  for (const [i, item] of kept.entries()) index.add(getOwn(item as JsonObject, mergeKey), i)
  for (const item of items) {
    const value = getOwn(item, mergeKey)
    if (value === undefined) throw noMergeKey(item, mergeKey)
    const at = index.first(value)
    if (at === undefined) {
      index.add(value, merged.length)
      merged.push(item)
      continue
    }
    const result = mergeMaps(merged[at] as JsonObject, item, schema, apply)
    merged[at] = result
    // A null in the patch removes the merge key.
    if (getOwn(result, mergeKey) !== value) index.removeFirst(value)
  }
  return mergeOrders(merged, items, kept, mergeKey, true)
}

/** Splits directives from items: returns the live items that remain, and the items of the patch without a directive. */
function applyItemDirectives(
  live: readonly unknown[],
  patch: readonly JsonObject[],
  mergeKey: string,
): readonly [live: readonly unknown[], patch: readonly JsonObject[]] {
  const items: JsonObject[] = []
  const deleted = new Set<unknown>()
  let replace = false
  for (const item of patch) {
    const directive = getOwn(item, patchDirective)
    if (directive === undefined) {
      items.push(item)
    } else if (directive === 'delete') {
      const value = getOwn(item, mergeKey)
      if (value === undefined) throw noMergeKey(item, mergeKey)
      deleted.add(value)
    } else if (directive === 'replace') {
      replace = true
    } else if (directive === 'merge') {
      throw new PatchError('merging lists cannot yet be specified in the patch')
    } else {
      throw badPatchType(directive, item)
    }
  }
  if (replace) return [items, []]
  if (deleted.size === 0) return [live, items]
  return [live.filter((item) => !deleted.has(getOwn(item as JsonObject, mergeKey))), items]
}
