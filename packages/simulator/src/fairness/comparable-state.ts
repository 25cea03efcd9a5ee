import { isUtf8 } from 'node:buffer'
import type { KubeObject } from '@kubewright/api'
import { isJsonObject } from '@kubewright/base'
import { objectId } from '../define/object-id.ts'

/** The comparable form of objects, by ID. */
export type ComparableState = ReadonlyMap<string, unknown>

export interface ComparableOptions {
  /** The IDs of the objects to compare. */
  readonly ids: ReadonlySet<string>
  /** Kinds whose status the operator writes. The status of other kinds is not compared. */
  readonly statusOf: ReadonlySet<string>
  /** Paths and kinds that are not compared. */
  readonly ignore: readonly string[]
}

const uncomparedMetadata =
  /^(name|namespace|uid|resourceVersion|generation|creationTimestamp|managedFields|selfLink|deletionGracePeriodSeconds)$/
const terminatingName = 'isTerminating'
const terminating = `metadata.${terminatingName}`

/** Fields that the server or a clock sets. */
const volatileFields =
  /^(clusterIPs?|nodePort|healthCheckNodePort|nodeName|.*[gG]eneration|last.*Time|.*Timestamp|.*[rR]esourceVersion)$/
const timeText = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)?/g
const uidText = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g
/** What stands for a time in a comparable form. */
export const timeMark = '<time>'
const volatileAnnotations =
  /^(deployment\.kubernetes\.io|kubectl\.kubernetes\.io|pv\.kubernetes\.io|volume\.|endpoints\.kubernetes\.io\/last-change)/
const emptyMaps = new Set(['metadata.labels', 'metadata.annotations', 'status'])

/**
 * Reduces objects to the parts that are equal in every run with the same outcome: without identities, times, versions,
 * allocated addresses and, for kinds of other controllers, status.
 */
export function comparable(objects: readonly KubeObject[], options: ComparableOptions): ComparableState {
  const uids = new Map(objects.map((object) => [object.metadata.uid, objectId(object)]))
  const state = new Map<string, unknown>()
  for (const object of objects) {
    const id = objectId(object)
    if (!options.ids.has(id) || options.ignore.includes(object.kind)) continue
    const { metadata, status, ...rest } = object as KubeObject & { readonly status?: unknown }
    const entries = Object.entries(metadata).filter(([name]) => !uncomparedMetadata.test(name))
    const kept: Record<string, unknown> = Object.fromEntries(entries)
    kept['ownerReferences'] = metadata.ownerReferences?.map(({ uid, kind, name, controller }) => ({
      owner: `${kind} ${name}`,
      controller: controller ?? false,
      exists: uids.get(uid)?.endsWith(`${name}`) ?? false,
    }))
    // A pod may still stop.
    if (metadata.deletionTimestamp !== undefined && object.kind !== 'Pod') kept[terminatingName] = true
    const data = object.kind === 'Secret' ? { data: readableData(object) } : {}
    const parts = { ...rest, ...data, metadata: kept, ...(options.statusOf.has(object.kind) ? { status } : {}) }
    state.set(id, masked(parts, '', options.ignore))
  }
  return state
}

/** A text that is equal for objects whose comparable forms are equal, whatever their names. */
export function formOf(object: KubeObject, options: Omit<ComparableOptions, 'ids'>): string {
  const [form] = comparable([object], { ...options, ids: new Set([objectId(object)]) }).values()
  return JSON.stringify(form)
}

/** The data of a Secret. Texts are decoded, so that the times in them can be masked. */
function readableData({
  data,
}: KubeObject & { readonly data?: Readonly<Record<string, string>> | undefined }): unknown {
  if (data === undefined) return undefined
  const readable = (value: string): string => {
    const bytes = Buffer.from(value, 'base64')
    return isUtf8(bytes) ? bytes.toString() : value
  }
  return Object.fromEntries(Object.entries(data).map(([name, value]) => [name, readable(value)]))
}

function masked(given: unknown, path: string, ignore: readonly string[]): unknown {
  if (typeof given === 'string') return given.replace(timeText, timeMark).replace(uidText, '<uid>')
  if (Array.isArray(given)) {
    const items = given.map((item) => masked(item, path, ignore))
    // Controllers append to lists in their status in the order in which they observe.
    return path.startsWith('status') || unordered.has(path) ? sorted(items) : items
  }
  if (!isJsonObject(given)) return given
  const result: Record<string, unknown> = {}
  for (const name of Object.keys(given).sort()) {
    const at = path === '' ? name : `${path}.${name}`
    const part = given[name]
    if (part === undefined || ignore.includes(at)) continue
    if (path === 'metadata.annotations' && volatileAnnotations.test(name)) continue
    if (path !== '' && name !== 'apiVersion' && volatileFields.test(name)) continue
    const value = masked(part, at, ignore)
    // An empty map remains when the last entry is removed or ignored.
    if (emptyMaps.has(at) && Object.keys(value as object).length === 0) continue
    result[name] = value
  }
  return result
}

const unordered = new Set(['metadata.finalizers', 'metadata.ownerReferences'])
const keyFields = ['type', 'name', 'id', 'key', 'owner']

/** Sorts a list of scalars, or of objects by the field that identifies them. */
function sorted(items: unknown[]): unknown[] {
  const keyOf = (item: unknown): string => {
    if (!isJsonObject(item)) return JSON.stringify(item)
    const field = keyFields.find((name) => typeof item[name] === 'string')
    return field === undefined ? '' : String(item[field])
  }
  return [...items].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : keyOf(a) > keyOf(b) ? 1 : 0))
}

/** A difference between two states. */
export interface Difference {
  readonly id: string
  /** The field, or empty for the whole object. */
  readonly path: string
  readonly expected: unknown
  readonly actual: unknown
}

/** The differences between two states, at the deepest fields. */
export function differences(expected: ComparableState, actual: ComparableState): Difference[] {
  const found: Difference[] = []
  for (const id of [...new Set([...expected.keys(), ...actual.keys()])].sort()) {
    compare(id, '', expected.get(id), actual.get(id), found)
  }
  return found
}

function compare(id: string, path: string, expected: unknown, actual: unknown, found: Difference[]): void {
  if (Object.is(expected, actual)) return
  if (isJsonObject(expected) && isJsonObject(actual)) {
    for (const name of new Set([...Object.keys(expected), ...Object.keys(actual)])) {
      compare(id, path === '' ? name : `${path}.${name}`, expected[name], actual[name], found)
    }
    return
  }
  if (Array.isArray(expected) && Array.isArray(actual) && expected.length === actual.length) {
    for (const [index, item] of expected.entries()) compare(id, `${path}[${index}]`, item, actual[index], found)
    return
  }
  found.push({ id, path, expected, actual })
}

/** Describes a difference in one line. */
export function differenceText({ id, path, expected, actual }: Difference): string {
  if (path === '') return actual === undefined ? `${id} is missing` : `${id} should not exist`
  if (path === terminating && actual === true) return `${id} is being deleted`
  return `${id}: ${path} is ${short(actual)}, expected ${short(expected)}`
}

function short(value: unknown): string {
  if (value === undefined) return 'missing'
  const text = JSON.stringify(value)
  return text.length > 200 ? `${text.slice(0, 200)}…` : text
}
