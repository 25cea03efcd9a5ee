import type { CrdManifest } from '@kubewright/api'
import { isRecord } from '../text/is-record.ts'
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
  return objects.filter(isCrd).map((crd) => withFloats(crd) as CrdManifest)
}

/** A definition that says too little, or says it in an old way, to be looked into. */
export interface UselessCrd {
  readonly name: string
  readonly reason: string
}

/** The definitions among documents that {@link crdsIn} passes over. */
export function uselessCrdsIn(documents: readonly ManifestDocument[]): UselessCrd[] {
  const objects = documents.flatMap(({ value }) => objectsIn(value))
  return objects.flatMap((object) => {
    if (object['kind'] !== 'CustomResourceDefinition' || isCrd(object)) return []
    const { metadata, apiVersion } = object
    const name = isRecord(metadata) && typeof metadata['name'] === 'string' ? metadata['name'] : 'a definition'
    const reason =
      apiVersion === 'apiextensions.k8s.io/v1'
        ? 'it has no spec.names or no spec.versions'
        : `it is of ${String(apiVersion)}, which Kubernetes 1.22 and later do not have: write it as apiextensions.k8s.io/v1`
    return [{ name, reason }]
  })
}

const floats: readonly string[] = ['minimum', 'maximum', 'multipleOf']
const values: readonly string[] = ['default', 'enum', 'example']

/** Takes the bounds of numbers for floats, as Kubernetes does: whole ones beyond 2^53 are read exactly, as bigints. */
function withFloats(value: unknown, key = ''): unknown {
  if (typeof value === 'bigint') return floats.includes(key) ? Number(value) : value
  if (Array.isArray(value)) return value.map((item) => withFloats(item))
  if (!isRecord(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, of]) => [name, values.includes(name) ? of : withFloats(of, name)]),
  )
}
