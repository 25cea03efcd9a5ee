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
  plural?: string | undefined
  singular?: string | undefined
  kind?: string | undefined
  listKind?: string | undefined
  shortNames?: string[] | undefined
  categories?: string[] | undefined
}

/** The fields that the scale subresource reads and writes. */
export interface CrdScale {
  specReplicasPath?: string | undefined
  statusReplicasPath?: string | undefined
  labelSelectorPath?: string | undefined
}

export interface CrdSubresources {
  status?: Record<string, unknown> | undefined
  scale?: CrdScale | undefined
}

/** A column of `kubectl get`. */
export interface CrdColumn {
  name?: string | undefined
  type?: string | undefined
  format?: string | undefined
  description?: string | undefined
  priority?: number | undefined
  jsonPath?: string | undefined
}

/** A version of a custom resource. */
export interface CrdVersion {
  name?: string | undefined
  served?: boolean | undefined
  storage?: boolean | undefined
  deprecated?: boolean | undefined
  deprecationWarning?: string | undefined
  schema?: { openAPIV3Schema?: JSONSchemaProps | undefined } | undefined
  subresources?: CrdSubresources | undefined
  additionalPrinterColumns?: CrdColumn[] | undefined
  selectableFields?: { jsonPath?: string | undefined }[] | undefined
}

/** The address of a conversion webhook. */
export interface CrdWebhookClient {
  url?: string | undefined
  service?:
    | {
        namespace?: string | undefined
        name?: string | undefined
        path?: string | undefined
        port?: number | undefined
      }
    | undefined
  /** PEM in base64. */
  caBundle?: string | undefined
}

export interface CrdConversion {
  strategy?: string | undefined
  webhook?: { clientConfig?: CrdWebhookClient | undefined; conversionReviewVersions?: string[] | undefined } | undefined
}

export interface CrdSpec {
  group?: string | undefined
  scope?: string | undefined
  names?: CrdNames | undefined
  versions?: CrdVersion[] | undefined
  conversion?: CrdConversion | undefined
  preserveUnknownFields?: boolean | undefined
}

export interface CrdCondition {
  type: string
  status: string
  reason?: string | undefined
  message?: string | undefined
  lastTransitionTime?: string | undefined
}

export interface CrdStatus {
  acceptedNames?: CrdNames | undefined
  conditions?: CrdCondition[] | null | undefined
  storedVersions?: string[] | null | undefined
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
