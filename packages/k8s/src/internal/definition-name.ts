// A definition has two names: the published one (`io.k8s.api.core.v1.PodSpec`), and the short one in the tables of this
// package (`core/v1.PodSpec`), whose first half is also the subpath that exports its TypeScript type.

const PREFIXES: Readonly<Record<string, string>> = {
  'meta/v1': 'io.k8s.apimachinery.pkg.apis.meta.v1',
  'apiextensions/v1': 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1',
  'apiregistration/v1': 'io.k8s.kube-aggregator.pkg.apis.apiregistration.v1',
}

// Definitions of apimachinery that belong to no API group. The tables keep them in meta/v1.
const STRAYS: Readonly<Record<string, string>> = {
  'meta/v1.Quantity': 'io.k8s.apimachinery.pkg.api.resource.Quantity',
  'meta/v1.IntOrString': 'io.k8s.apimachinery.pkg.util.intstr.IntOrString',
  'meta/v1.RawExtension': 'io.k8s.apimachinery.pkg.runtime.RawExtension',
  'meta/v1.VersionInfo': 'io.k8s.apimachinery.pkg.version.Info',
}

/** Returns the published name of a definition, from the key of its table (`core/v1`) and its local name. */
export function publishedName(table: string, local: string): string {
  return STRAYS[`${table}.${local}`] ?? `${PREFIXES[table] ?? `io.k8s.api.${table.replace('/', '.')}`}.${local}`
}

/**
 * Returns the table key and the local name of a published definition, or undefined if it is not part of a built-in API.
 */
export function shortName(published: string): { readonly table: string; readonly local: string } | undefined {
  for (const [short, name] of Object.entries(STRAYS)) {
    if (name === published) return { table: 'meta/v1', local: short.slice('meta/v1.'.length) }
  }
  const dot = published.lastIndexOf('.')
  const prefix = published.slice(0, dot)
  const local = published.slice(dot + 1)
  for (const [table, known] of Object.entries(PREFIXES)) if (known === prefix) return { table, local }
  const parts = /^io\.k8s\.api\.([a-z0-9]+)\.(v[a-z0-9]+)$/.exec(prefix)
  return parts ? { table: `${parts[1]}/${parts[2]}`, local } : undefined
}
