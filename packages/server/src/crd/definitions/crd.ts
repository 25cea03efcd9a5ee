import type { JSONSchemaProps } from '@kubewright/schema'
import type { MutableMeta, MutableObject } from '../../resource/object.ts'

/** The group of CustomResourceDefinitions. */
export const crdGroup = 'apiextensions.k8s.io'
/** The prefix of the keys of CRDs. */
export const crdPrefix: string = `/registry/${crdGroup}/customresourcedefinitions/`
/** Keeps a CRD until its custom resources are gone. */
export const cleanupFinalizer = 'customresourcecleanup.apiextensions.k8s.io'

/** The names of a custom resource: those of the spec, or the accepted ones of the status. */
export interface CrdNames {
  plural?: string
  singular?: string
  kind?: string
  listKind?: string
  shortNames?: string[]
  categories?: string[]
}

/** The fields that the scale subresource reads and writes. */
export interface CrdScale {
  specReplicasPath?: string
  statusReplicasPath?: string
  labelSelectorPath?: string
}

export interface CrdSubresources {
  status?: Record<string, unknown>
  scale?: CrdScale
}

/** A column of `kubectl get`. */
export interface CrdColumn {
  name?: string
  type?: string
  format?: string
  description?: string
  priority?: number
  jsonPath?: string
}

/** A version of a custom resource. */
export interface CrdVersion {
  name?: string
  served?: boolean
  storage?: boolean
  deprecated?: boolean
  deprecationWarning?: string
  schema?: { openAPIV3Schema?: JSONSchemaProps }
  subresources?: CrdSubresources
  additionalPrinterColumns?: CrdColumn[]
  selectableFields?: { jsonPath?: string }[]
}

/** The address of a conversion webhook. */
export interface CrdWebhookClient {
  url?: string
  service?: { namespace?: string; name?: string; path?: string; port?: number }
  /** PEM in base64. */
  caBundle?: string
}

export interface CrdConversion {
  strategy?: string
  webhook?: { clientConfig?: CrdWebhookClient; conversionReviewVersions?: string[] }
}

export interface CrdSpec {
  group?: string
  scope?: string
  names?: CrdNames
  versions?: CrdVersion[]
  conversion?: CrdConversion
  preserveUnknownFields?: boolean
}

export interface CrdCondition {
  type: string
  status: string
  reason?: string
  message?: string
  lastTransitionTime?: string
}

export interface CrdStatus {
  acceptedNames?: CrdNames
  conditions?: CrdCondition[] | null
  storedVersions?: string[] | null
}

/** A decoded CustomResourceDefinition. Its fields have their types, but nothing else has been validated. */
export interface Crd extends MutableObject {
  metadata: MutableMeta
  spec: CrdSpec
  status: CrdStatus
}

/** An object of the resource customresourcedefinitions as a CRD; decoding has checked the types of its fields. */
export function asCrd(object: Readonly<MutableObject>): Crd {
  return object as Crd
}

/** The version in which objects are stored. */
export function storageVersionOf({ versions = [] }: CrdSpec): CrdVersion | undefined {
  return versions.find(({ storage }) => storage)
}
