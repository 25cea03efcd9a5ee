import type { JSONSchemaProps } from '@kubewright/schema'
import type { MutableMeta, MutableObject } from '../../resource/object.ts'

/** The group that definitions of custom resources belong to. */
export const crdGroup = 'apiextensions.k8s.io'
/** Where definitions are stored. */
export const crdPrefix: string = `/registry/${crdGroup}/customresourcedefinitions/`
/** Keeps a definition until its custom resources are gone. */
export const cleanupFinalizer = 'customresourcecleanup.apiextensions.k8s.io'

/** The names of a custom resource, asked for or accepted. */
export interface CrdNames {
  plural?: string
  singular?: string
  kind?: string
  listKind?: string
  shortNames?: string[]
  categories?: string[]
}

/** Where the scale subresource finds its numbers. */
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

/** A version of a custom resource as a client sends it. */
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

/** How a conversion webhook is reached. */
export interface CrdWebhookClient {
  url?: string
  service?: { namespace?: string; name?: string; path?: string; port?: number }
  /** PEM, in base64. */
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

/** A CustomResourceDefinition of which nothing but the types of its fields has been checked. */
export interface Crd extends MutableObject {
  metadata: MutableMeta
  spec: CrdSpec
  status: CrdStatus
}

/** An object of the definitions' resource; decoding gave its fields their types. */
export function asCrd(object: Readonly<MutableObject>): Crd {
  return object as Crd
}

/** The version that objects are stored in. */
export function storageVersionOf({ versions = [] }: CrdSpec): CrdVersion | undefined {
  return versions.find(({ storage }) => storage)
}
