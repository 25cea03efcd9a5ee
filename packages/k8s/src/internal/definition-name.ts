// A definition has two names: the published one (`io.k8s.api.core.v1.PodSpec`) and the short one used in our tables (`core/v1.PodSpec`),
// whose first half is also the subpath under which its TypeScript type is exported.

const PREFIXES: Readonly<Record<string, string>> = {
  'meta/v1': 'io.k8s.apimachinery.pkg.apis.meta.v1',
  'apiextensions/v1': 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1',
  'apiregistration/v1': 'io.k8s.kube-aggregator.pkg.apis.apiregistration.v1',
}

// The few definitions of apimachinery that belong to no API group; they are kept with meta/v1.
const STRAYS: Readonly<Record<string, string>> = {
  'meta/v1.Quantity': 'io.k8s.apimachinery.pkg.api.resource.Quantity',
  'meta/v1.IntOrString': 'io.k8s.apimachinery.pkg.util.intstr.IntOrString',
  'meta/v1.RawExtension': 'io.k8s.apimachinery.pkg.runtime.RawExtension',
  'meta/v1.VersionInfo': 'io.k8s.apimachinery.pkg.version.Info',
}

/** The published name of a definition, from the key of its table (`core/v1`) and its local name. */
export function publishedName(table: string, local: string): string {
  return STRAYS[`${table}.${local}`] ?? `${PREFIXES[table] ?? `io.k8s.api.${table.replace('/', '.')}`}.${local}`
}

/** The key of the table and the local name of a published definition; undefined when the name is not of a built-in API. */
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
