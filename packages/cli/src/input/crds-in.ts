import type { CrdManifest } from '@kubewright/api'
import { isJsonObject } from '@kubewright/base'
import type { ManifestDocument } from './read-manifests.ts'

/** The objects of a document: the items of a list, else the document itself. */
export function objectsIn(value: unknown): readonly Record<string, unknown>[] {
  if (!isJsonObject(value)) return []
  const { kind, items } = value
  const isList = typeof kind === 'string' && kind.endsWith('List') && Array.isArray(items)
  return isList ? items.flatMap(objectsIn) : [value]
}

/** Whether a value is a CRD of apiextensions.k8s.io/v1 with the fields that the commands read. */
export function isCrd(value: unknown): value is CrdManifest {
  if (!isJsonObject(value) || value['kind'] !== 'CustomResourceDefinition') return false
  const { spec, metadata, apiVersion } = value
  return (
    apiVersion === 'apiextensions.k8s.io/v1' &&
    isJsonObject(metadata) &&
    isJsonObject(spec) &&
    isJsonObject(spec['names']) &&
    Array.isArray(spec['versions'])
  )
}

/** The CRDs among documents. */
export function crdsIn(documents: readonly ManifestDocument[]): CrdManifest[] {
  const objects: readonly unknown[] = documents.flatMap(({ value }) => objectsIn(value))
  return objects.filter(isCrd).map((crd) => withFloats(crd) as CrdManifest)
}

/** A CRD that is incomplete, or of an API version that is no longer supported. */
export interface UnusableCrd {
  readonly name: string
  readonly reason: string
}

/** The CRDs among documents that {@link crdsIn} skips, with the reason. */
export function unusableCrdsIn(documents: readonly ManifestDocument[]): UnusableCrd[] {
  const objects = documents.flatMap(({ value }) => objectsIn(value))
  return objects.flatMap((object) => {
    if (object['kind'] !== 'CustomResourceDefinition' || isCrd(object)) return []
    const { metadata, apiVersion } = object
    const name = isJsonObject(metadata) && typeof metadata['name'] === 'string' ? metadata['name'] : 'a CRD'
    const reason =
      apiVersion === 'apiextensions.k8s.io/v1'
        ? 'it has no spec.names or no spec.versions'
        : `it is of ${String(apiVersion)}, which Kubernetes 1.22 removed: convert it to apiextensions.k8s.io/v1`
    return [{ name, reason }]
  })
}

const floats: readonly string[] = ['minimum', 'maximum', 'multipleOf']
const values: readonly string[] = ['default', 'enum', 'example']

/** Converts numeric bounds to floats, as Kubernetes does. The parser returns integers beyond 2^53 as bigints. */
function withFloats(value: unknown, key = ''): unknown {
  if (typeof value === 'bigint') return floats.includes(key) ? Number(value) : value
  if (Array.isArray(value)) return value.map((item) => withFloats(item))
  if (!isJsonObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, of]) => [name, values.includes(name) ? of : withFloats(of, name)]),
  )
}
