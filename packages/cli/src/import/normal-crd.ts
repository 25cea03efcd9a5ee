import type { CrdManifest, CrdVersion } from '@kubewright/api'
import { deepEqual, isJsonObject } from '@kubewright/base'
import { type JSONSchemaProps, normalSchema } from '@kubewright/schema'

/**
 * The normal form of a CRD: two CRDs for which an API server serves the same resources with the same schemas have equal normal forms.
 * Labels, annotations and conversion are omitted, because they belong to the installation and not to the types.
 */
export function normalCrd(crd: CrdManifest): object {
  const { group, names, scope, versions } = crd.spec
  return {
    group,
    scope,
    names: {
      kind: names.kind,
      plural: names.plural,
      singular: names.singular || names.kind.toLowerCase(),
      listKind: names.listKind || `${names.kind}List`,
      shortNames: names.shortNames ?? [],
      categories: names.categories ?? [],
    },
    versions: Object.fromEntries(versions.map((version) => [version.name, normalVersion(version)])),
  }
}

function normalVersion(version: CrdVersion): object {
  const { served, storage, deprecated, deprecationWarning, subresources, selectableFields } = version
  const hasStatus = subresources?.status !== undefined && subresources.status !== null
  return {
    served,
    storage,
    deprecated: deprecated === true ? (deprecationWarning ?? true) : false,
    columns: (version.additionalPrinterColumns ?? []).map((column) => [
      column.name,
      column.type,
      column.jsonPath,
      column.format || undefined,
      column.description || undefined,
      column.priority || 0,
    ]),
    status: hasStatus,
    scale: { ...subresources?.scale },
    selectableFields: (selectableFields ?? []).map(({ jsonPath }) => jsonPath),
    schema: normalRoot(version.schema?.openAPIV3Schema ?? {}, hasStatus),
  }
}

const alwaysThere = ['apiVersion', 'kind', 'metadata']

function normalRoot(schema: JSONSchemaProps, hasStatus: boolean): JSONSchemaProps {
  const { properties = {}, required = [], ...rest } = normalSchema(schema)
  const open = rest['x-kubernetes-preserve-unknown-fields'] === true
  const fields = Object.entries(properties).filter(([name, field]) => {
    const { description: _, ...own } = field
    const trivial = name === 'metadata' ? { type: 'object' } : { type: 'string' }
    if (alwaysThere.includes(name)) return !(deepEqual(own, trivial) || deepEqual(own, {}))
    // If unknown fields are preserved, a status without a schema is equal to no status.
    return !(name === 'status' && hasStatus && open && deepEqual(own, { 'x-kubernetes-preserve-unknown-fields': true }))
  })
  // Every object has type and metadata, a default sets its field, and a new object never has a status: requiring them changes nothing.
  const demanded = required.filter(
    (name) =>
      !alwaysThere.includes(name) && properties[name]?.default === undefined && !(name === 'status' && hasStatus),
  )
  return {
    ...rest,
    type: 'object',
    ...(fields.length > 0 ? { properties: Object.fromEntries(fields) } : {}),
    ...(demanded.length > 0 ? { required: demanded } : {}),
  }
}

/** The paths at which the normal forms of two CRDs differ; at most `limit` of them. */
export function crdDifferences(a: CrdManifest, b: CrdManifest, limit = 5): string[] {
  const paths: string[] = []
  collect(normalCrd(a), normalCrd(b), '', paths, limit)
  return paths
}

function collect(a: unknown, b: unknown, path: string, paths: string[], limit: number): void {
  if (paths.length >= limit || deepEqual(a, b)) return
  if (isJsonObject(a) && isJsonObject(b)) {
    for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) {
      collect(a[key], b[key], path === '' ? key : `${path}.${key}`, paths, limit)
    }
    return
  }
  paths.push(path)
}
