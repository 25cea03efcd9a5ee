import { FieldSet } from '../fieldset/field-set.ts'
import { type FieldSetPath, fieldSetPath } from '../fieldset/path-element.ts'
import type { ManagedFieldsEntry } from '../object-meta.ts'
import { decodeManagedFields, emptyManaged, encodeManagedFields } from './managed-fields.ts'

/**
 * The path of the replicas field in each version of a kind; null for a version without scale. A version that is not
 * listed is unknown, and entries of its managers are dropped.
 */
export type ReplicasPaths = Readonly<Record<string, FieldSetPath | null>>

const scaleVersion = 'autoscaling/v1'
const replicasInScale = fieldSetPath('spec', 'replicas')

/** The managedFields of an object's Scale: the managers that own its replicas (managedfields/scalehandler.go). */
export function scaleManagedFields(
  parent: readonly ManagedFieldsEntry[] | undefined,
  paths: ReplicasPaths,
): ManagedFieldsEntry[] | undefined {
  const managed = decodeManagedFields(parent)
  const result = emptyManaged()
  for (const [manager, { set, apiVersion, applied }] of managed.fields) {
    const path = paths[apiVersion]
    if (!path || !set.has(path)) continue
    result.fields.set(manager, { set: FieldSet.of(replicasInScale), apiVersion: scaleVersion, applied })
    result.times.set(manager, managed.times.get(manager))
  }
  return encodeManagedFields(result)
}

/**
 * The managedFields of an object after a write to its Scale: the managers that own the replicas in the Scale own them
 * in the object.
 */
export function parentManagedFields(
  parent: readonly ManagedFieldsEntry[] | undefined,
  scale: readonly ManagedFieldsEntry[] | undefined,
  apiVersion: string,
  paths: ReplicasPaths,
): ManagedFieldsEntry[] | undefined {
  const managed = decodeManagedFields(parent)
  const inScale = decodeManagedFields(scale)
  const result = emptyManaged()
  for (const [manager, versioned] of managed.fields) {
    const path = paths[versioned.apiVersion]
    if (path === undefined) continue
    const owned = path !== null && versioned.set.has(path)
    const stolen = owned && !inScale.fields.delete(manager)
    const set = stolen ? versioned.set.difference(FieldSet.of(path)) : versioned.set
    if (set.isEmpty) continue
    result.fields.set(manager, { ...versioned, set })
    result.times.set(manager, managed.times.get(manager))
  }
  const path = paths[apiVersion]
  for (const [manager, { set, applied }] of inScale.fields) {
    if (!path || !set.has(replicasInScale)) continue
    result.fields.set(manager, { set: FieldSet.of(path), apiVersion, applied })
    // As in Kubernetes, a manager that is new to the object gets no time.
    result.times.set(manager, managed.times.get(manager))
  }
  return encodeManagedFields(result)
}
