import { compareUtf8, deepEqual, isJsonObject } from '@kubewright/base'
import type { JSONSchemaProps } from '@kubewright/schema'
import { goValue } from '@kubewright/schema'
import { encodeYaml } from '../../codec/encode-yaml.ts'
import { goType } from '../../fieldset/go-text.ts'
import { asJson, getOwn, type JsonObject, setOwn } from '../../own-property.ts'
import { PatchError } from '../patch-error.ts'
import type { PatchPrecondition } from '../preconditions.ts'
import { deleteListPrefix, listOfLists, orderListPrefix, patchDirective, retainKeysDirective } from './directives.ts'
import { elementType, inOrder, isMapType, mergeKeyOf } from './element-order.ts'
import { listMeta, type PatchMeta, structMeta } from './patch-meta.ts'
import { patchesConflict } from './patches-conflict.ts'
import { mergeMaps } from './strategic-merge.ts'

interface DiffOptions {
  /** Omits additions and changes. */
  readonly ignoreChanges?: boolean | undefined
  /** Omits deletions. */
  readonly ignoreDeletions?: boolean | undefined
  readonly setElementOrder?: boolean | undefined
  readonly retainKeys?: boolean | undefined
}

/** Options of {@link createThreeWayStrategicMergePatch}. */
export interface ThreeWayOptions {
  /** False rejects the patch when other writers changed the same fields since the last apply. @default true */
  readonly overwrite?: boolean | undefined
  /** Restrictions on the patch. @default none */
  readonly preconditions?: readonly PatchPrecondition[] | undefined
}

/**
 * Creates the strategic merge patch that turns `before` into `after`. Throws PatchError when a precondition fails or a
 * list item has no merge key.
 */
export function createTwoWayStrategicMergePatch(
  before: object,
  after: object,
  schema: JSONSchemaProps,
  preconditions: readonly PatchPrecondition[] = [],
): JsonObject {
  return checked(diffMaps(asJson(before), asJson(after), schema, { setElementOrder: true }), preconditions)
}

/**
 * Creates the strategic merge patch of `kubectl apply`: the additions and changes of `modified` relative to `current`,
 * and the removal of what `original` (the last applied object) had and `modified` omits. Fields that other writers
 * added to `current` stay.
 */
export function createThreeWayStrategicMergePatch(
  original: object,
  modified: object,
  current: object,
  schema: JSONSchemaProps,
  { overwrite = true, preconditions = [] }: ThreeWayOptions = {},
): JsonObject {
  const changes = diffMaps(asJson(current), asJson(modified), schema, { ignoreDeletions: true, setElementOrder: true })
  const deletions = diffMaps(asJson(original), asJson(modified), schema, { ignoreChanges: true, setElementOrder: true })
  const patch = checked(mergeMaps(deletions, changes, schema, false), preconditions)
  if (!overwrite) {
    const meanwhile = diffMaps(asJson(original), asJson(current), schema, {})
    if (patchesConflict(patch, meanwhile, schema)) {
      throw new PatchError(
        `patch:\n${encodeYaml(patch)}\nconflicts with changes made from original to current:\n${encodeYaml(meanwhile)}\n`,
      )
    }
  }
  return patch
}

function checked(patch: JsonObject, preconditions: readonly PatchPrecondition[]): JsonObject {
  if (preconditions.every((holds) => holds(patch))) return patch
  throw new PatchError(`precondition failed for: ${goValue(patch)}`)
}

function diffMaps(before: JsonObject, after: JsonObject, schema: JSONSchemaProps, options: DiffOptions): JsonObject {
  const patch: Record<string, unknown> = {}
  for (const key of Object.keys(after)) {
    const value = after[key]
    const old = getOwn(before, key)
    if (key === patchDirective && old !== undefined) {
      if (typeof old !== 'string' || typeof value !== 'string') {
        throw new PatchError(`invalid value for special key: ${patchDirective}`)
      }
      if (old !== value) patch[patchDirective] = value
    } else if (isJsonObject(old) && isJsonObject(value)) {
      diffField(patch, key, old, value, schema, options)
    } else if (Array.isArray(old) && Array.isArray(value)) {
      diffList(patch, key, old, value, schema, options)
    } else if (
      !options.ignoreChanges &&
      (old === undefined || goType(old) !== goType(value) || !deepEqual(old, value))
    ) {
      setOwn(patch, key, value)
    }
  }
  const gone = Object.keys(before).filter((key) => getOwn(after, key) === undefined)
  if (!options.ignoreDeletions) for (const key of gone) setOwn(patch, key, null)
  if (options.retainKeys) {
    const retained = Object.keys(after).filter((key) => after[key] !== null)
    const loses = gone.some((key) => before[key] !== null)
    if (retained.length > 0 && (Object.keys(patch).length > 0 || loses)) {
      patch[retainKeysDirective] = retained.sort(compareUtf8)
    }
  }
  return patch
}

/**
 * The merge rules of the field, or undefined when the schema has none and the values are equal, so that no rules are
 * needed.
 */
function metaUnlessEqual(find: () => PatchMeta, before: unknown, after: unknown): PatchMeta | undefined {
  try {
    return find()
  } catch (error) {
    if (deepEqual(before, after)) return undefined
    throw error
  }
}

function diffField(
  patch: Record<string, unknown>,
  key: string,
  before: JsonObject,
  after: JsonObject,
  schema: JSONSchemaProps,
  options: DiffOptions,
): void {
  const meta = metaUnlessEqual(() => structMeta(schema, key), before, after)
  if (meta === undefined) return
  if (meta.strategy === 'replace') {
    if (!options.ignoreChanges) setOwn(patch, key, after)
    return
  }
  const inner = diffMaps(before, after, meta.schema, { ...options, retainKeys: meta.retainKeys })
  if (Object.keys(inner).length > 0) setOwn(patch, key, inner)
}

function diffList(
  patch: Record<string, unknown>,
  key: string,
  before: readonly unknown[],
  after: readonly unknown[],
  schema: JSONSchemaProps,
  options: DiffOptions,
): void {
  const meta = metaUnlessEqual(() => listMeta(schema, key), before, after)
  if (meta === undefined) return
  if (meta.strategy !== 'merge') {
    if (!options.ignoreChanges && !deepEqual(before, after)) setOwn(patch, key, after)
    return
  }
  if (before.length === 0) {
    if (after.length > 0 && !options.ignoreChanges) setOwn(patch, key, after)
    return
  }
  const type = elementType(before, after)
  if (type === '[]interface {}') throw listOfLists()
  if (isMapType(type)) diffItems(patch, key, before, after, meta, { ...options, retainKeys: meta.retainKeys })
  else diffScalars(patch, key, before, after, options)
}

function diffScalars(
  patch: Record<string, unknown>,
  key: string,
  before: readonly unknown[],
  after: readonly unknown[],
  options: DiffOptions,
): void {
  const byText = (a: unknown, b: unknown): number => compareUtf8(goValue(a), goValue(b))
  const had = new Set(before)
  const has = new Set(after)
  const added = options.ignoreChanges ? [] : after.filter((item) => !had.has(item))
  const gone = options.ignoreDeletions ? [] : [...had].filter((item) => !has.has(item)).sort(byText)
  if (added.length > 0) setOwn(patch, key, added)
  if (gone.length > 0) patch[`${deleteListPrefix}/${key}`] = gone
  const changed = !options.ignoreChanges && !deepEqual(before, after)
  if (options.setElementOrder && after.length > 0 && (gone.length > 0 || changed))
    patch[`${orderListPrefix}/${key}`] = after
}

function diffItems(
  patch: Record<string, unknown>,
  key: string,
  before: readonly unknown[],
  after: readonly unknown[],
  { schema, mergeKey }: PatchMeta,
  options: DiffOptions,
): void {
  const changes: unknown[] = []
  const deletions: JsonObject[] = []
  // Valid objects have unique merge keys. Items with the same key are paired in order.
  const old = new Map<string, JsonObject[]>()
  for (const item of before) {
    const identity = goValue(mergeKeyOf(item, mergeKey))
    const same = old.get(identity)
    if (same) same.push(item as JsonObject)
    else old.set(identity, [item as JsonObject])
  }
  for (const item of after) {
    const known = old.get(goValue(mergeKeyOf(item, mergeKey)))?.shift()
    if (known === undefined) {
      if (!options.ignoreChanges) changes.push(item)
      continue
    }
    const inner = diffMaps(known, item as JsonObject, schema, options)
    if (Object.keys(inner).length > 0) changes.push({ ...inner, [mergeKey]: (item as JsonObject)[mergeKey] })
  }
  if (!options.ignoreDeletions) {
    for (const identity of [...old.keys()].sort(compareUtf8)) {
      for (const item of old.get(identity) ?? [])
        deletions.push({ [mergeKey]: item[mergeKey], [patchDirective]: 'delete' })
    }
  }
  const items = [...inOrder(changes, after, mergeKey, true), ...deletions]
  if (items.length > 0) setOwn(patch, key, items)
  const moved =
    before.length !== after.length ||
    after.some((item, i) => mergeKeyOf(item, mergeKey) !== mergeKeyOf(before[i], mergeKey))
  const ordered =
    (!options.ignoreChanges && (items.length > 0 || moved)) || (!options.ignoreDeletions && items.length > 0)
  if (options.setElementOrder && ordered && after.length > 0) {
    patch[`${orderListPrefix}/${key}`] = after.map((item) => ({ [mergeKey]: (item as JsonObject)[mergeKey] }))
  }
}
