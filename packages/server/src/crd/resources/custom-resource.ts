import { compareVersionPriority, type KindFacts, parseSimplePath, valueAt } from '@kubewright/api'
import { deepCopy } from '@kubewright/base'
import type { JSONSchemaProps } from '@kubewright/schema'
import type { ServedRelease } from '../../codec/served-release.ts'
import type { FieldConversion } from '../../resource/conversion.ts'
import type { MutableObject } from '../../resource/object.ts'
import { customOrigin } from '../../resource/origin.ts'
import type { FieldSelectors, Resource } from '../../resource/resource.ts'
import type { Subresource } from '../../resource/subresource.ts'
import { type CustomColumn, customTable } from '../../table/custom-table.ts'
import type { Crd, CrdSpec, CrdVersion } from '../definitions/crd.ts'
import { customScale } from './custom-scale.ts'
import { type CustomConverter, CustomStorage } from './custom-storage.ts'
import { customStrategies } from './custom-strategy.ts'
import { type CustomVersion, CustomVersions } from './custom-versions.ts'
import { decodeCustom, recheckCustom } from './decode-custom.ts'

const verbs = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch']
const anything: JSONSchemaProps = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }

/** The context of the resources of a CRD. */
export interface CustomResourceOptions {
  readonly release: ServedRelease
  /** Aborts when the CRD changes or is deleted. */
  readonly ended: AbortSignal
  /** @default conversion changes apiVersion only */
  readonly converter?: CustomConverter | undefined
}

/** The resources of a CRD: one for each served version, and one for the storage version, which need not be served. */
export interface CustomResources {
  readonly served: readonly Resource[]
  readonly stored: Resource
}

/** Builds the resources of a CRD whose names have been accepted. Each schema is compiled once, when first needed. */
export function customResources(crd: Crd, options: CustomResourceOptions): CustomResources {
  const versions = new CustomVersions(crd)
  const resources = [...versions.all.values()].map((own) => ({
    own,
    resource: resourceOf(crd, versions, own, options),
  }))
  return {
    served: resources.filter(({ own }) => own.version.served).map(({ resource }) => resource),
    stored: resources.find(({ own }) => own === versions.storage)!.resource,
  }
}

function resourceOf(crd: Crd, versions: CustomVersions, own: CustomVersion, options: CustomResourceOptions): Resource {
  const { main, status } = customStrategies(versions, own)
  const { subresources = {}, additionalPrinterColumns } = own.version
  const served: Record<string, Subresource> = {}
  if (subresources.status) served['status'] = { verbs: ['get', 'patch', 'update'], strategy: status }
  if (subresources.scale) served['scale'] = customScale(versions, own, subresources.scale, main, options.release)
  const schema = own.json ?? anything
  return {
    kind: kindOf(crd, own, schema, Object.keys(served)),
    origin: customOrigin,
    release: options.release,
    errorGroup: versions.group,
    serving: { verbs, deprecation: deprecationOf(crd.spec, own.version), ended: options.ended },
    strategy: main,
    subresources: served,
    codec: {
      decode: (body, request) => decodeCustom(versions, own.apiVersion, body, request),
      recheck: (object, recheckOptions) => recheckCustom(versions, object, recheckOptions),
      toWorkingForm: (object) => object,
      toClientForm: (object) => object,
    },
    storage: {
      prefix: `/registry/${versions.group}/${crd.status.acceptedNames?.plural}/`,
      apiVersion: versions.storage.apiVersion,
      kind: versions.kind,
    },
    conversion: {
      storage: new CustomStorage(versions, own, options.converter),
      fields: fieldConversion(versions, options.converter),
    },
    selectors: {
      fields: selectableFields(own.version),
      unknownField: (label) => `field label not supported: ${label}`,
    },
    presentation: { table: customTable(additionalPrinterColumns as CustomColumn[] | undefined) },
  }
}

/** The schema without metadata, apiVersion and kind, whose types are fixed whatever the CRD declares. */
function withoutMetadata(schema: JSONSchemaProps): JSONSchemaProps {
  const { metadata, apiVersion, kind, ...properties } = schema.properties ?? {}
  return metadata || apiVersion || kind ? { ...schema, properties } : schema
}

/** Conversion for managed fields: by the converter of the CRD, or by changing apiVersion alone. */
function fieldConversion(versions: CustomVersions, converter: CustomConverter | undefined): FieldConversion {
  const conversion: FieldConversion = {
    schemaFor: (apiVersion) => {
      const version = versions.all.get(apiVersion)
      return version && (version.json ? withoutMetadata(version.json) : null)
    },
    convert: (object, apiVersion) => (versions.all.has(apiVersion) ? { ...object, apiVersion } : undefined),
  }
  if (!converter) return conversion
  return {
    ...conversion,
    convertAsync: async (object, apiVersion) => {
      if (!versions.all.has(apiVersion)) return undefined
      if (object['apiVersion'] === apiVersion) return object
      const [converted] = await converter.convert([deepCopy(object) as MutableObject], apiVersion)
      return converted
    },
  }
}

function kindOf(crd: Crd, { apiVersion, version }: CustomVersion, schema: JSONSchemaProps, subs: string[]): KindFacts {
  const {
    plural = '',
    singular = '',
    kind = '',
    listKind = '',
    shortNames,
    categories,
  } = crd.status.acceptedNames ?? {}
  return {
    group: crd.spec.group ?? '',
    version: version.name ?? '',
    kind,
    apiVersion,
    plural,
    singular,
    listKind,
    scope: crd.spec.scope === 'Namespaced' ? 'Namespaced' : 'Cluster',
    shortNames: shortNames ?? [],
    categories: categories ?? [],
    subresources: subs,
    schema,
  }
}

function selectableFields({ selectableFields: fields = [] }: CrdVersion): FieldSelectors['fields'] {
  return Object.fromEntries(
    fields.map(({ jsonPath = '' }) => {
      const steps = parseSimplePath(jsonPath)
      const read = (object: MutableObject): string => {
        const value = valueAt(object, steps)
        return value === undefined ? '' : String(value)
      }
      return [jsonPath.replace(/^\./, ''), read]
    }),
  )
}

/** The warning for clients of a deprecated version: that of the CRD, or one that names the preferred version. */
function deprecationOf({ group, names, versions = [] }: CrdSpec, version: CrdVersion): string | undefined {
  if (!version.deprecated) return undefined
  if (version.deprecationWarning !== undefined) return version.deprecationWarning
  const own = version.name ?? ''
  const text = `${group}/${own} ${names?.kind} is deprecated`
  const better = versions
    .filter(({ served, deprecated, name = '' }) => served && !deprecated && compareVersionPriority(own, name) > 0)
    .map(({ name = '' }) => name)
    .sort(compareVersionPriority)
  return better.length === 0 ? text : `${text}; use ${group}/${better[0]} ${names?.kind}`
}
