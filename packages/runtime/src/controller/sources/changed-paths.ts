import type { KubeObject } from '@kubewright/api'
import { deepEqual, isJsonObject } from '@kubewright/base'

// Limits on the number and depth of paths: enough to recognize a field that keeps changing, in objects of any size.
const maxPaths = 16
const maxDepth = 3

/**
 * The paths at which two versions of an object differ, such as `spec.replicas` or `status.conditions[Ready]`: at most
 * 16, at most three names deep. Omits `resourceVersion` and `managedFields`, which every write changes.
 */
export function changedPaths(before: KubeObject, after: KubeObject): readonly string[] {
  const paths: string[] = []
  compareObjects(before, after, '', 1, paths)
  return paths
}

/**
 * The field managers whose entries in `managedFields` an update changed, which are the probable writers. A manager that
 * only lost fields did not write: the server takes them away when another manager sets them to other values, and keeps
 * the time of the entry.
 */
export function writersOf(before: KubeObject, after: KubeObject): readonly string[] {
  const known = before.metadata.managedFields ?? []
  const changed = new Set<string>()
  const writers = new Set<string>()
  for (const entry of after.metadata.managedFields ?? []) {
    if (entry.manager === undefined || known.some((other) => deepEqual(entry, other))) continue
    changed.add(entry.manager)
    const earlier = known.find(
      (other) =>
        other.manager === entry.manager &&
        other.operation === entry.operation &&
        other.subresource === entry.subresource &&
        other.apiVersion === entry.apiVersion,
    )
    const hasOnlyLost = earlier?.time === entry.time && isPart(entry.fieldsV1, earlier?.fieldsV1)
    if (!hasOnlyLost) writers.add(entry.manager)
  }
  // Times have a resolution of a second, so a manager that removed fields may have the same time as before.
  return [...(writers.size > 0 ? writers : changed)]
}

/** Whether all fields of a set, in the form of `fieldsV1`, are in another. */
function isPart(part: unknown, whole: unknown): boolean {
  if (!isJsonObject(part)) return true
  return isJsonObject(whole) && Object.keys(part).every((name) => name in whole && isPart(part[name], whole[name]))
}

type Fields = Readonly<Record<string, unknown>>

function compareObjects(before: object, after: object, prefix: string, depth: number, paths: string[]): void {
  // Both are JSON objects, so any string may be a key.
  const left = before as Fields
  const right = after as Fields
  const inMetadata = prefix === 'metadata.'
  for (const name in left) compareField(name)
  for (const name in right) if (left[name] === undefined) compareField(name)

  function compareField(name: string): void {
    if (paths.length >= maxPaths || (inMetadata && (name === 'resourceVersion' || name === 'managedFields'))) return
    compare(left[name], right[name], `${prefix}${name}`, depth, paths)
  }
}

function compare(before: unknown, after: unknown, path: string, depth: number, paths: string[]): void {
  if (before === after) return
  if (depth < maxDepth && isJsonObject(before) && isJsonObject(after)) {
    compareObjects(before, after, `${path}.`, depth + 1, paths)
  } else if (path.endsWith('.conditions') && Array.isArray(before) && Array.isArray(after)) {
    compareConditions(before, after, path, paths)
  } else if (!deepEqual(before, after)) paths.push(path)
}

function compareConditions(before: readonly unknown[], after: readonly unknown[], path: string, paths: string[]): void {
  const types = new Set([...before, ...after].map(typeOf))
  for (const type of types) {
    const of = (list: readonly unknown[]): unknown => list.find((each) => typeOf(each) === type)
    if (paths.length < maxPaths && !deepEqual(of(before), of(after))) paths.push(`${path}[${type}]`)
  }
}

function typeOf(condition: unknown): string {
  return isJsonObject(condition) && typeof condition['type'] === 'string' ? condition['type'] : ''
}
