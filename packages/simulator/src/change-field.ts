import type { KubeObject } from '@kubewright/api'

/** A changed copy of an object. */
export interface ChangedObject {
  readonly path: string
  readonly changed: object
}

const builtinManagers = new Set(['kube-controller-manager', 'user', 'kube-scheduler', 'kubelet'])
const maxChanges = 5

/**
 * Copies of an object, each with another value in one field that the operator has set. Only fields of the managers that are
 * not part of the cluster are changed: an operator need not restore what it did not write.
 */
export function changeField(object: KubeObject, pick: number): ChangedObject[] {
  const paths: string[][] = []
  for (const { manager = '', subresource, fieldsV1 } of object.metadata.managedFields ?? []) {
    if (builtinManagers.has(manager) || (subresource ?? '') !== '') continue
    const fields = fieldsV1 as Readonly<Record<string, unknown>> | undefined
    for (const part of ['f:spec', 'f:data']) collect(fields?.[part], [part.slice(2)], paths)
  }
  const start = paths.length === 0 ? 0 : pick % paths.length
  const rotated = [...paths.slice(start), ...paths.slice(0, start)]
  const changes: ChangedObject[] = []
  for (const path of rotated) {
    const copy = structuredClone(object) as unknown as Record<string, unknown>
    if (change(copy, path)) changes.push({ path: path.join('.'), changed: copy })
    if (changes.length === maxChanges) break
  }
  return changes
}

function collect(fields: unknown, path: string[], found: string[][]): void {
  if (typeof fields !== 'object' || fields === null) return
  const names = Object.entries(fields).filter(([name]) => name.startsWith('f:'))
  if (names.length === 0) found.push(path)
  for (const [name, inner] of names) collect(inner, [...path, name.slice(2)], found)
}

function change(object: Record<string, unknown>, path: readonly string[]): boolean {
  let parent = object
  for (const name of path.slice(0, -1)) {
    const next = parent[name]
    if (typeof next !== 'object' || next === null || Array.isArray(next)) return false
    parent = next as Record<string, unknown>
  }
  const name = path.at(-1)!
  const value = parent[name]
  if (typeof value === 'number') parent[name] = value + 1
  else if (typeof value === 'boolean') parent[name] = !value
  // Base64 data stays valid.
  else if (typeof value === 'string') parent[name] = object['kind'] === 'Secret' ? 'Y2hhbmdlZA==' : `${value}-changed`
  else return false
  return true
}
