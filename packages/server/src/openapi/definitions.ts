import { describedSchema } from '@kubewright/k8s/descriptions'
import type { Release } from '@kubewright/k8s/releases'
import type { OpenApiVersion, PublishedSchema } from './custom-definitions.ts'

/**
 * The definitions that documents reference, directly or transitively, sorted by name. `custom` contains those of custom resources;
 * all others are built in.
 */
export function definitionsFor(
  release: Release,
  roots: Iterable<string>,
  custom: ReadonlyMap<string, PublishedSchema>,
  version: OpenApiVersion,
): Record<string, PublishedSchema> {
  const found = new Map<string, PublishedSchema>()
  const waiting = [...roots]
  const refer = (name: string): void => {
    if (!found.has(name)) waiting.push(name)
  }
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (found.has(name)) continue
    const schema = custom.get(name) ?? builtin(release, name, version)
    found.set(name, schema)
    eachRef(schema, refer)
  }
  return Object.fromEntries([...found].sort(([a], [b]) => (a < b ? -1 : 1)))
}

function builtin(release: Release, name: string, version: OpenApiVersion): PublishedSchema {
  return describedSchema(release, name, version) as unknown as PublishedSchema
}

function eachRef(value: unknown, visit: (name: string) => void): void {
  if (typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) {
    for (const item of value) eachRef(item, visit)
    return
  }
  for (const [key, child] of Object.entries(value)) {
    if (key === '$ref' && typeof child === 'string') visit(child.slice(child.lastIndexOf('/') + 1))
    else eachRef(child, visit)
  }
}
