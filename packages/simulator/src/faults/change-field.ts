import type { KubeObject } from '@kubewright/api'
import { isJsonObject } from '@kubewright/base'

/** A changed copy of an object. */
export interface ChangedObject {
  readonly path: string
  readonly changed: object
}

const maxChanges = 5

/**
 * Copies of an object, each with another value in one field that the operator maintains. An operator maintains the fields that it applies
 * with server-side apply, and those that it has changed with other writes. It need not restore what it only set when it created the object.
 */
export function changeField(object: KubeObject, pick: number, changedPaths: ReadonlySet<string>): ChangedObject[] {
  const paths: string[][] = []
  for (const { operation, subresource, fieldsV1 } of object.metadata.managedFields ?? []) {
    if (operation !== 'Apply' || (subresource ?? '') !== '') continue
    const fields = fieldsV1 as Readonly<Record<string, unknown>> | undefined
    for (const part of ['f:spec', 'f:data']) collect(fields?.[part], [part.slice(2)], paths)
  }
  for (const path of changedPaths) paths.push(path.split('\0'))
  const start = paths.length === 0 ? 0 : pick % paths.length
  // Annotations of this name direct the simulated nodes.
  const rotated = [...paths.slice(start), ...paths.slice(0, start)].filter(
    (path) => !path.at(-1)!.startsWith('kubewright.dev/'),
  )
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
    if (!isJsonObject(next)) return false
    parent = next
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
