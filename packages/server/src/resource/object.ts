/** An object that the server is working on: plain JSON, owned by one write and changed in place. */
export interface MutableObject {
  apiVersion: string
  kind: string
  metadata: MutableMeta
  [field: string]: unknown
}

/** The metadata of a {@link MutableObject}. */
export interface MutableMeta {
  name?: string
  generateName?: string
  namespace?: string
  uid?: string
  resourceVersion?: string
  generation?: number
  creationTimestamp?: string
  deletionTimestamp?: string
  deletionGracePeriodSeconds?: number
  labels?: Record<string, string>
  annotations?: Record<string, string>
  ownerReferences?: {
    apiVersion: string
    kind: string
    name: string
    uid: string
    controller?: boolean
    blockOwnerDeletion?: boolean
  }[]
  finalizers?: string[]
  managedFields?: ManagedFields
  [field: string]: unknown
}

/** The entries of metadata.managedFields in their stored form. */
export type ManagedFields = Record<string, unknown>[]
