/** Identifies a resource of the cluster. */
export interface ResourceName {
  /** Empty for the core group. */
  readonly group: string
  readonly version: string
  readonly plural: string
}

/** Identifies an object. */
export interface ObjectName {
  readonly resource: ResourceName
  /** Absent for objects of cluster scope. */
  readonly namespace?: string | undefined
  readonly name: string
}

/** A kind that the page can list. */
export interface KindInfo extends ResourceName {
  readonly kind: string
  readonly namespaced: boolean
  readonly shortNames: readonly string[]
  readonly verbs: readonly string[]
  readonly subresources: readonly string[]
  /** Whether the kind is not part of Kubernetes itself. */
  readonly custom: boolean
}
