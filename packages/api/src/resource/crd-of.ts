import type { JSONSchemaProps } from '@kubewright/schema'
import type { AnyKind, Scope } from '../kind.ts'
import { type ResolvedColumn, type ResolvedVersion, resourceOf } from './resolved-resource.ts'
import type { Scale } from './resource-definition.ts'

/** The `names` of a CustomResourceDefinition. */
export interface CrdNames {
  readonly categories?: readonly string[]
  readonly kind: string
  readonly listKind: string
  readonly plural: string
  readonly shortNames?: readonly string[]
  readonly singular: string
}

/** One of the `versions` of a CustomResourceDefinition. */
export interface CrdVersion {
  readonly additionalPrinterColumns?: readonly ResolvedColumn[]
  readonly deprecated?: boolean
  readonly deprecationWarning?: string
  readonly name: string
  readonly schema: { readonly openAPIV3Schema: JSONSchemaProps }
  readonly selectableFields?: readonly { readonly jsonPath: string }[]
  readonly served: boolean
  readonly storage: boolean
  readonly subresources?: { readonly scale?: Scale; readonly status?: Record<string, never> }
}

/** How the API server converts objects between the versions of a CustomResourceDefinition. */
export interface CrdConversion {
  /** `None` changes only the apiVersion. */
  readonly strategy: 'None' | 'Webhook'
  readonly webhook?: {
    readonly clientConfig?: {
      readonly caBundle?: string
      readonly service?: {
        readonly name: string
        readonly namespace: string
        readonly path?: string
        readonly port?: number
      }
      readonly url?: string
    }
    readonly conversionReviewVersions: readonly string[]
  }
}

/** Options of {@link crdOf}. */
export interface CrdOptions {
  /** @default omitted; the API server then uses the strategy None */
  readonly conversion?: CrdConversion
}

/** An `apiextensions.k8s.io/v1` CustomResourceDefinition as returned by {@link crdOf}. */
export interface CrdManifest {
  readonly apiVersion: 'apiextensions.k8s.io/v1'
  readonly kind: 'CustomResourceDefinition'
  readonly metadata: {
    readonly annotations?: Readonly<Record<string, string>>
    readonly labels?: Readonly<Record<string, string>>
    readonly name: string
  }
  readonly spec: {
    readonly conversion?: CrdConversion
    readonly group: string
    readonly names: CrdNames
    readonly scope: Scope
    readonly versions: readonly CrdVersion[]
  }
}

/**
 * The CustomResourceDefinition of a kind created by `defineResource`, with all its versions. The layout is that of
 * controller-gen: fields in alphabetical order, versions sorted by name. Throws a TypeError for any other kind, such as
 * a built-in one.
 */
export function crdOf(kind: AnyKind, options: CrdOptions = {}): CrdManifest {
  const resource = resourceOf(kind)
  if (resource === undefined) {
    throw new TypeError(
      `Cannot create a CustomResourceDefinition for ${kind.apiVersion} ${kind.kind}: the kind was not created by defineResource`,
    )
  }
  const { group, plural, labels, annotations } = resource
  const versions = [...resource.versions].sort((a, b) => (a.name < b.name ? -1 : 1))
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      ...(Object.keys(annotations).length > 0 ? { annotations } : {}),
      ...(Object.keys(labels).length > 0 ? { labels } : {}),
      name: `${plural}.${group}`,
    },
    spec: {
      ...(options.conversion === undefined ? {} : { conversion: options.conversion }),
      group,
      names: {
        ...(resource.categories.length > 0 ? { categories: resource.categories } : {}),
        kind: resource.kind,
        listKind: resource.listKind,
        plural,
        ...(resource.shortNames.length > 0 ? { shortNames: resource.shortNames } : {}),
        singular: resource.singular,
      },
      scope: resource.scope,
      versions: versions.map(crdVersion),
    },
  }
}

function crdVersion(version: ResolvedVersion): CrdVersion {
  const { columns, deprecated, name, schema, selectableFields, served, storage, hasStatus, scale } = version
  return {
    ...(columns.length > 0 ? { additionalPrinterColumns: columns } : {}),
    ...(deprecated === false ? {} : { deprecated: true }),
    ...(typeof deprecated === 'string' ? { deprecationWarning: deprecated } : {}),
    name,
    schema: { openAPIV3Schema: schema },
    ...(selectableFields.length > 0 ? { selectableFields: selectableFields.map((jsonPath) => ({ jsonPath })) } : {}),
    served,
    storage,
    ...(hasStatus || scale !== undefined
      ? {
          subresources: {
            ...(scale === undefined ? {} : { scale: sortedScale(scale) }),
            ...(hasStatus ? { status: {} } : {}),
          },
        }
      : {}),
  }
}

function sortedScale({ labelSelectorPath, specReplicasPath, statusReplicasPath }: Scale): Scale {
  return { ...(labelSelectorPath === undefined ? {} : { labelSelectorPath }), specReplicasPath, statusReplicasPath }
}
