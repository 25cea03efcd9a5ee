/** An object while the server works on it: plain JSON that may be changed in place. */
export interface MutableObject {
  apiVersion: string
  kind: string
  metadata: MutableMeta
  [field: string]: unknown
}

/** Metadata while the server works on it. */
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

/** The managed fields entries as they are stored. */
export type ManagedFields = Record<string, unknown>[]
