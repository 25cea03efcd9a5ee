import { goJson, type JSONSchemaProps, RawValue, schemaJson } from '@kubewright/schema'
import { semanticEqual } from '../../resource/semantic-equal.ts'
import type { Crd, CrdSpec, CrdVersion } from './crd.ts'

type Shared = Pick<CrdVersion, 'schema' | 'subresources' | 'additionalPrinterColumns' | 'selectableFields'>

/**
 * A CRD in the form that kube-apiserver validates: parts that all versions share stand above the versions and not in them. Error
 * paths follow this form, so that an error in the schema of a single version is reported at `spec.validation`.
 */
export interface InternalSpec {
  readonly spec: CrdSpec
  readonly versions: readonly CrdVersion[]
  /** The parts that are equal in every version. */
  readonly shared: Shared
}

const sharable = ['schema', 'subresources', 'additionalPrinterColumns', 'selectableFields'] as const

/** Converts a CRD to that form (apiextensions/v1/conversion.go). */
export function internalSpec(spec: CrdSpec): InternalSpec {
  const versions = (spec.versions ?? []).map((version) => ({ ...version }))
  const first = versions[0]
  const shared: Shared = {}
  if (!first) return { spec, versions, shared }
  for (const field of sharable) {
    const value = first[field]
    if (!versions.every((version) => same(version[field], value))) continue
    Object.assign(shared, value === undefined ? {} : { [field]: value })
    for (const version of versions) delete version[field]
  }
  return { spec, versions, shared }
}

/** Deep equality, except that an empty list equals an absent one. */
function same(a: unknown, b: unknown): boolean {
  const filled = (value: unknown): unknown => (Array.isArray(value) && value.length === 0 ? undefined : value)
  return semanticEqual(filled(a), filled(b))
}

/** The schema of a version, or of the shared part. */
export function schemaOf({ schema }: Shared): JSONSchemaProps | undefined {
  return schema?.openAPIV3Schema
}

/** CRDs that were sent with an empty list of versions. Only error texts distinguish them from those without a list. */
const emptyVersions = new WeakSet<Crd>()

/** Records that a CRD has an empty list of versions, before the codec drops the list. */
export function noteEmptyVersions(crd: Crd): void {
  if (crd.spec.versions?.length === 0) emptyVersions.add(crd)
}

/** The versions as error texts quote them: with the field names of Go's struct, in its order. */
export function versionsValue({ spec, versions }: InternalSpec, crd: Crd): unknown {
  if (!spec.versions) return emptyVersions.has(crd) ? [] : null
  return new RawValue(`[${versions.map(versionJson).join(',')}]`)
}

function versionJson(version: CrdVersion): string {
  const { schema, subresources, additionalPrinterColumns: columns, selectableFields } = version
  const { status, scale } = subresources ?? {}
  return struct({
    Name: goJson(version.name ?? ''),
    Served: goJson(version.served ?? false),
    Storage: goJson(version.storage ?? false),
    Deprecated: goJson(version.deprecated ?? false),
    DeprecationWarning: goJson(version.deprecationWarning ?? null),
    Schema: schema
      ? struct({ OpenAPIV3Schema: schema.openAPIV3Schema ? schemaJson(schema.openAPIV3Schema) : 'null' })
      : 'null',
    Subresources: subresources
      ? struct({
          Status: status ? '{}' : 'null',
          Scale: scale
            ? struct({
                SpecReplicasPath: goJson(scale.specReplicasPath ?? ''),
                StatusReplicasPath: goJson(scale.statusReplicasPath ?? ''),
                LabelSelectorPath: goJson(scale.labelSelectorPath ?? null),
              })
            : 'null',
        })
      : 'null',
    AdditionalPrinterColumns: list(columns, (column) =>
      struct({
        Name: goJson(column.name ?? ''),
        Type: goJson(column.type ?? ''),
        Format: goJson(column.format ?? ''),
        Description: goJson(column.description ?? ''),
        Priority: goJson(column.priority ?? 0),
        JSONPath: goJson(column.jsonPath ?? ''),
      }),
    ),
    SelectableFields: list(selectableFields, ({ jsonPath = '' }) => struct({ JSONPath: goJson(jsonPath) })),
  })
}

function struct(fields: Readonly<Record<string, string>>): string {
  return `{${Object.entries(fields)
    .map(([name, json]) => `"${name}":${json}`)
    .join(',')}}`
}

function list<T>(items: readonly T[] | undefined, json: (item: T) => string): string {
  return items ? `[${items.map(json).join(',')}]` : 'null'
}
