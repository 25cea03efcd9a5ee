import type { CrdManifest } from '@kubewright/api'
import { isRecord } from '../scaffold/is-record.ts'
import type { ManifestDocument } from './read-manifests.ts'

/** The objects of a document: the items of a list one by one. */
export function objectsIn(value: unknown): readonly Record<string, unknown>[] {
  if (!isRecord(value)) return []
  const { kind, items } = value
  const isList = typeof kind === 'string' && kind.endsWith('List') && Array.isArray(items)
  return isList ? items.flatMap(objectsIn) : [value]
}

/** Whether an object is a definition of version v1, complete enough to be looked into. */
export function isCrd(value: unknown): value is CrdManifest {
  if (!isRecord(value) || value['kind'] !== 'CustomResourceDefinition') return false
  const { spec, metadata, apiVersion } = value
  return (
    apiVersion === 'apiextensions.k8s.io/v1' &&
    isRecord(metadata) &&
    isRecord(spec) &&
    isRecord(spec['names']) &&
    Array.isArray(spec['versions'])
  )
}

/** The definitions among documents. */
export function crdsIn(documents: readonly ManifestDocument[]): CrdManifest[] {
  const objects: readonly unknown[] = documents.flatMap(({ value }) => objectsIn(value))
  return objects.filter(isCrd)
}
