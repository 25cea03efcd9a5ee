import { deepEqual, isJsonObject } from '@kubewright/base'
import type { Json } from '../cluster/json.ts'
import type { FieldChange } from '../wire/change-view.ts'

const maxText = 120
// Changes of these follow from every write.
const ignored = new Set(['metadata.resourceVersion', 'metadata.managedFields', 'metadata.generation'])
// The fields that identify an item of a list; the first that all items have counts.
const identifying = ['name', 'type', 'key', 'containerPort', 'port', 'uid', 'ip'] as const

/** The fields that differ between two states of an object, in the order of the newer one. */
export function fieldChanges(before: Json, after: Json): FieldChange[] {
  const changes: FieldChange[] = []
  compare(before, after, '', changes)
  return changes
}

function compare(before: unknown, after: unknown, path: string, changes: FieldChange[]): void {
  if (ignored.has(path) || deepEqual(before, after)) return
  if (isJsonObject(before) && isJsonObject(after)) {
    for (const field of new Set([...Object.keys(after), ...Object.keys(before)]))
      compare(before[field], after[field], path === '' ? field : `${path}${member(field)}`, changes)
    return
  }
  const identity = Array.isArray(before) && Array.isArray(after) ? identityOf([...before, ...after]) : undefined
  if (identity !== undefined) {
    const [old, current] = [itemsBy(before as Json[], identity), itemsBy(after as Json[], identity)]
    for (const id of new Set([...current.keys(), ...old.keys()]))
      compare(old.get(id), current.get(id), `${path}[${identity}=${id}]`, changes)
    return
  }
  changes.push({ path, before: shortened(before), after: shortened(after) })
}

/** The field by which the items of two lists correspond; undefined if there is none. */
function identityOf(items: readonly unknown[]): string | undefined {
  return identifying.find((field) => items.length > 0 && items.every((item) => isJsonObject(item) && field in item))
}

function itemsBy(items: readonly Json[], field: string): Map<string, Json> {
  return new Map(items.map((item) => [String(item[field]), item]))
}

const member = (field: string): string => (/^[\w-]+$/.test(field) ? `.${field}` : `[${JSON.stringify(field)}]`)

function shortened(value: unknown): string | undefined {
  if (value === undefined) return undefined
  const text = JSON.stringify(value)
  return text.length > maxText ? `${text.slice(0, maxText)}…` : text
}
