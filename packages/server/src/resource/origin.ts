/**
 * Where the kind of a resource comes from, and what follows from it for clients. kube-apiserver compiles built-in kinds as Go structs
 * and registers a route for each of their paths; custom resources are unstructured JSON behind one handler. Clients can observe the
 * difference in many places. Each member describes one difference, and code that depends on a difference reads that member. Compare a
 * resource's origin with {@link builtinOrigin} only where the origin itself matters.
 */
export interface Origin {
  readonly name: 'builtin' | 'custom'
  /**
   * Whether a router stands in front of the resource. It answers 404, 405, 406 and 415 in words of its own, before the resource is
   * involved. The one handler of custom resources answers with errors that name the resource, or with a plain "404 page not found".
   */
  readonly hasRoutes: boolean
  /** Whether requests and responses may be encoded as protobuf. Conversions such as PartialObjectMetadata always may. */
  readonly supportsProtobuf: boolean
  /** Whether PATCH accepts strategic merge patches, which need the merge keys of Go structs. */
  readonly supportsStrategicMergePatch: boolean
  /** Whether the server holds objects as Go structs: error texts then name Go types and print fields in the order of the struct. */
  readonly hasGoTypes: boolean
  /** Whether the items of a list repeat kind and apiVersion. */
  readonly listItemsCarryTypeMeta: boolean
  /** Whether the metadata of a list always has `continue`, empty on the last page. */
  readonly listsAlwaysCarryContinue: boolean
  /** Whether a watch sends bookmarks although no object of the resource has changed since the watch started. */
  readonly sendsBookmarksWhenIdle: boolean
  /** Whether field selectors may name metadata.namespace for cluster-scoped kinds too. */
  readonly selectsNamespaceInEveryScope: boolean
  /** Whether finalizers without a domain must be known ones, unless the strategy allows any. */
  readonly restrictsFinalizerNames: boolean
}

/** Kinds that are part of Kubernetes. */
export const builtinOrigin: Origin = {
  name: 'builtin',
  hasRoutes: true,
  supportsProtobuf: true,
  supportsStrategicMergePatch: true,
  hasGoTypes: true,
  listItemsCarryTypeMeta: false,
  listsAlwaysCarryContinue: false,
  sendsBookmarksWhenIdle: true,
  selectsNamespaceInEveryScope: true,
  restrictsFinalizerNames: true,
}

/** Kinds that a CustomResourceDefinition defines. */
export const customOrigin: Origin = {
  name: 'custom',
  hasRoutes: false,
  supportsProtobuf: false,
  supportsStrategicMergePatch: false,
  hasGoTypes: false,
  listItemsCarryTypeMeta: true,
  listsAlwaysCarryContinue: true,
  sendsBookmarksWhenIdle: false,
  selectsNamespaceInEveryScope: false,
  restrictsFinalizerNames: false,
}
