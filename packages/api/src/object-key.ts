/** Identifies an object of a known kind in calls: a name, `namespace/name`, or both as fields. */
export type ObjectKey = string | { readonly name: string; readonly namespace?: string | undefined }

/** An object with a name and, if namespaced, a namespace. */
export interface Named {
  readonly metadata: { readonly name: string; readonly namespace?: string | undefined }
}

/** True when both have the same namespace and name; the kind is not compared. */
export function sameObject(a: Named, b: Named): boolean {
  return a.metadata.name === b.metadata.name && (a.metadata.namespace ?? '') === (b.metadata.namespace ?? '')
}

/** The key of an object: `namespace/name`, or the name alone without a namespace. Unique within a kind. */
export function keyOf(object: Named): string {
  return formatKey(object.metadata.name, object.metadata.namespace)
}

/** Joins a name and a namespace into a key string, as client-go's MetaNamespaceKeyFunc does. */
export function formatKey(name: string, namespace?: string): string {
  return namespace === undefined || namespace === '' ? name : `${namespace}/${name}`
}

/** Splits a key string. The error message is that of client-go's SplitMetaNamespaceKey. */
export function parseKey(key: string): { name: string; namespace?: string | undefined } {
  const slash = key.indexOf('/')
  if (slash < 0) return { name: key }
  if (key.indexOf('/', slash + 1) >= 0) throw new TypeError(`unexpected key format: ${JSON.stringify(key)}`)
  const name = key.slice(slash + 1)
  return slash === 0 ? { name } : { name, namespace: key.slice(0, slash) }
}

/** Converts either form of a key to name and namespace. A string is `namespace/name` or a plain name. */
export function toNameAndNamespace(key: ObjectKey): { name: string; namespace?: string | undefined } {
  if (typeof key === 'string') return parseKey(key)
  return key.namespace ? { name: key.name, namespace: key.namespace } : { name: key.name }
}
