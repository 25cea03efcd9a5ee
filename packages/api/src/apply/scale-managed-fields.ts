import { FieldSet } from '../fieldset/field-set.ts'
import { type FieldSetPath, fieldSetPath } from '../fieldset/path-element.ts'
import type { ManagedFieldsEntry } from '../object-meta.ts'
import { decodeManagedFields, emptyManaged, encodeManagedFields } from './managed-fields.ts'

/**
 * Where each version of a kind keeps its replicas; null for a version without scale. A version that is not listed is unknown, and what
 * managers of it own is dropped.
 */
export type ReplicasPaths = Readonly<Record<string, FieldSetPath | null>>

const scaleVersion = 'autoscaling/v1'
const replicasInScale = fieldSetPath('spec', 'replicas')

/** The managedFields of the Scale of an object: who owns its replicas (managedfields/scalehandler.go). */
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

/** The managedFields of an object after its Scale was written: whoever owns the replicas there owns them here. */
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
    // A manager that is new to the object gets no time: Kubernetes takes it from the object's entries alone.
    result.times.set(manager, managed.times.get(manager))
  }
  return encodeManagedFields(result)
}
