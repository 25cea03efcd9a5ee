import type { CrdManifest, CrdVersion, FieldPathText, ResolvedColumn, ResourceNames, Scale } from '@kubewright/api'
import { compareVersionPriority, guessPlural } from '@kubewright/api'
import type { JSONSchemaProps, ValidationRule } from '@kubewright/schema'

/** A top-level field of a custom resource. */
export interface PlannedField {
  readonly json: JSONSchemaProps
  readonly optional: boolean
}

/** A version of a custom resource, as options of `defineResource`. */
export interface PlannedVersion {
  readonly name: string
  readonly served: boolean
  readonly storage: boolean
  readonly deprecated: boolean | string
  readonly description?: string | undefined
  readonly spec?: PlannedField | undefined
  readonly status?: PlannedField | undefined
  /** The version has the status subresource but no schema for the status. */
  readonly statusSubresource?: true | undefined
  readonly fields: Readonly<Record<string, PlannedField>>
  readonly objectName?: PlannedField | undefined
  readonly rules: readonly ValidationRule[]
  readonly columns: readonly ResolvedColumn[]
  readonly selectableFields: readonly FieldPathText[]
  readonly scale?: Scale | undefined
  readonly preserveUnknownFields: boolean
}

/** A CRD as options of `defineResource`. */
export interface ResourcePlan {
  readonly names: ResourceNames
  readonly versions: readonly PlannedVersion[]
}

/** The options of {@link planResource}. */
export interface PlanOptions {
  /** The versions to import. @default all */
  readonly versions?: readonly string[] | undefined
  /** Whether to import descriptions. @default true */
  readonly descriptions?: boolean | undefined
}

// Kept, because API servers reject CRDs in groups of Kubernetes without it.
const approval = 'api-approved.kubernetes.io'
const alwaysThere = ['apiVersion', 'kind', 'metadata']

/** Converts a CRD to options of `defineResource`. Throws a RangeError if it has none of the requested versions. */
export function planResource(crd: CrdManifest, options: PlanOptions = {}): ResourcePlan {
  const wanted = crd.spec.versions.filter(({ name }) => options.versions?.includes(name) ?? true)
  if (wanted.length === 0) {
    const has = crd.spec.versions.map(({ name }) => name).join(', ')
    throw new RangeError(`${crd.metadata.name} has none of the versions ${options.versions?.join(', ')}: it has ${has}`)
  }
  // One version must be the storage version: if that is not imported, the one with the highest priority.
  const stored =
    wanted.find(({ storage }) => storage)?.name ?? wanted.map(({ name }) => name).sort(compareVersionPriority)[0]
  const strip = options.descriptions === false ? withoutProse : (json: JSONSchemaProps): JSONSchemaProps => json
  return {
    names: namesOf(crd),
    versions: wanted.map((version) => planVersion(version, version.name === stored, strip)),
  }
}

function namesOf({ metadata, spec }: CrdManifest): ResourceNames {
  const { kind, plural, singular, listKind, shortNames = [], categories = [] } = spec.names
  const approved = metadata.annotations?.[approval]
  return {
    group: spec.group,
    kind,
    ...(spec.scope === 'Cluster' ? { scope: 'Cluster' } : {}),
    ...(plural === guessPlural(kind) ? {} : { plural }),
    ...(singular === undefined || singular === kind.toLowerCase() ? {} : { singular }),
    ...(listKind === undefined || listKind === `${kind}List` ? {} : { listKind }),
    ...(shortNames.length > 0 ? { shortNames } : {}),
    ...(categories.length > 0 ? { categories } : {}),
    external: true,
    ...(approved === undefined ? {} : { metadata: { annotations: { [approval]: approved } } }),
  }
}

function planVersion(
  version: CrdVersion,
  storage: boolean,
  strip: (json: JSONSchemaProps) => JSONSchemaProps,
): PlannedVersion {
  const root = strip(version.schema?.openAPIV3Schema ?? {})
  const { description, properties = {}, required = [] } = root
  const open = root['x-kubernetes-preserve-unknown-fields'] === true
  const hasStatus = version.subresources?.status !== undefined && version.subresources.status !== null
  const all = Object.entries(properties)
    .filter(([name]) => !alwaysThere.includes(name))
    .map(([name, json]): [string, PlannedField] => [name, { json, optional: !required.includes(name) }])
  const { spec, status, ...others } = Object.fromEntries(all)
  const scale = version.subresources?.scale
  const name = properties['metadata']?.properties?.['name']
  const deprecated = version.deprecated === true ? (version.deprecationWarning ?? true) : false
  return {
    name: version.name,
    served: version.served,
    storage,
    deprecated,
    ...(description ? { description } : {}),
    ...(spec === undefined ? {} : { spec }),
    ...(hasStatus ? statusOptions(status, open) : {}),
    // Without the subresource, the status is an ordinary field.
    fields: hasStatus || status === undefined ? others : { ...others, status },
    ...(name?.type === 'string' ? { objectName: { json: name, optional: false } } : {}),
    rules: root['x-kubernetes-validations'] ?? [],
    columns: distinct(version.additionalPrinterColumns ?? []).map(withoutEmpty),
    // API servers reject a CRD with other paths.
    selectableFields: (version.selectableFields ?? []).map(({ jsonPath }) => jsonPath as FieldPathText),
    ...(scale === undefined || scale === null ? {} : { scale: ordered(scale) }),
    preserveUnknownFields: open,
  }
}

/** The options for the status subresource. If unknown fields are preserved, a status without a schema may have any fields. */
function statusOptions(
  status: PlannedField | undefined,
  open: boolean,
): Pick<PlannedVersion, 'status' | 'statusSubresource'> {
  if (status !== undefined) return { status }
  const anything = { 'x-kubernetes-preserve-unknown-fields': true } as const
  return open ? { status: { json: anything, optional: true } } : { statusSubresource: true }
}

// In a fixed order, so that a file and a cluster, which sorts names, give the same text.
function ordered({ specReplicasPath, statusReplicasPath, labelSelectorPath }: Scale): Scale {
  return { specReplicasPath, statusReplicasPath, ...(labelSelectorPath ? { labelSelectorPath } : {}) }
}

// A title can occur only once. Omitted columns are reported as differences.
function distinct(columns: readonly ResolvedColumn[]): ResolvedColumn[] {
  return columns.filter(({ name }, index) => columns.findIndex((column) => column.name === name) === index)
}

function withoutEmpty({ name, type, jsonPath, format, description, priority }: ResolvedColumn): ResolvedColumn {
  return {
    name,
    type,
    jsonPath,
    ...(format ? { format } : {}),
    ...(description ? { description } : {}),
    ...(priority ? { priority } : {}),
  }
}

function withoutProse(json: JSONSchemaProps): JSONSchemaProps {
  const { description: _, ...rest } = json
  return {
    ...rest,
    ...(rest.properties === undefined
      ? {}
      : {
          properties: Object.fromEntries(
            Object.entries(rest.properties).map(([name, field]) => [name, withoutProse(field)]),
          ),
        }),
    ...(rest.items === undefined ? {} : { items: withoutProse(rest.items) }),
    ...(typeof rest.additionalProperties === 'object'
      ? { additionalProperties: withoutProse(rest.additionalProperties) }
      : {}),
  }
}
