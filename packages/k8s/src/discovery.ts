/** A subresource such as `status`. */
export interface SubresourceDiscovery {
  readonly name: string
  /** The kind of the body. */
  readonly kind: string
  /** The group and version of the kind, if they differ from those of the resource, as for `scale`. */
  readonly group?: string
  readonly version?: string
  readonly verbs: readonly string[]
}

/** A resource of a group and version. */
export interface ResourceDiscovery {
  readonly resource: string
  readonly kind: string
  readonly singular: string
  readonly scope: 'Namespaced' | 'Cluster'
  readonly verbs: readonly string[]
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
  readonly subresources?: readonly SubresourceDiscovery[]
}

/** A version of a group with its resources. */
export interface VersionDiscovery {
  readonly version: string
  readonly resources: readonly ResourceDiscovery[]
}

/** An API group. The core group has the empty name. */
export interface GroupDiscovery {
  readonly group: string
  /** In order of preference: the first is the preferred version. */
  readonly versions: readonly VersionDiscovery[]
}
