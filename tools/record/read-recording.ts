// Reads what `npm run record` has written: the answers of a running kube-apiserver without flags.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ApiFacts, type DiscoveredGroup, factsOf, type PublishedSchema } from '../generate-k8s/api-facts.ts'

/** The facts of a release that a server and the type declarations of Kubernetes state. */
export interface Recording {
  readonly api: ApiFacts
  /** Whether each feature gate is on by default. */
  readonly gates: ReadonlyMap<string, boolean>
}

/** Reads a recording from a folder. */
export function readRecording(folder: string): Recording {
  const read = (file: string): unknown => JSON.parse(readFileSync(join(folder, file), 'utf8'))
  const { gitVersion } = read('version.json') as { gitVersion: string }
  const documents = readdirSync(join(folder, 'openapi-v3')).map(
    (file) => read(join('openapi-v3', file)) as { components?: { schemas?: Record<string, PublishedSchema> } },
  )
  const { definitions } = read('openapi-v2.json') as { definitions: Record<string, PublishedSchema> }
  const v3: Record<string, PublishedSchema> = Object.assign(
    {},
    ...documents.map(({ components }) => components?.schemas),
  )
  // A document of version 3 may list only its own kinds for a definition that documents share.
  for (const [name, schema] of Object.entries(v3)) {
    const kinds = definitions[name]?.['x-kubernetes-group-version-kind']
    if (kinds) v3[name] = { ...schema, 'x-kubernetes-group-version-kind': kinds }
  }
  const groups = ['aggregated-api.json', 'aggregated-apis.json'].flatMap(
    (file) => (read(file) as { items: readonly DiscoveredGroup[] }).items,
  )
  return {
    api: factsOf(gitVersion, withoutProse(v3), withoutProse(definitions), groups.map(plainGroup)),
    gates: gatesIn(readFileSync(join(folder, 'metrics.txt'), 'utf8')),
  }
}

/** Definitions by name, sorted, without descriptions and without the paths at which a kind can be reached. */
function withoutProse(definitions: Readonly<Record<string, PublishedSchema>>): Record<string, PublishedSchema> {
  const names = Object.keys(definitions).sort()
  return Object.fromEntries(names.map((name) => [name, plain(definitions[name]) as PublishedSchema]))
}

function plain(value: unknown, isMap = false): unknown {
  if (Array.isArray(value)) return value.map((item) => plain(item))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key, child]) => isMap || key !== 'description' || typeof child !== 'string')
      .map(([key, child]) => [key, plain(child, !isMap && key === 'properties')]),
  )
}

function plainGroup({ metadata, versions }: DiscoveredGroup): DiscoveredGroup {
  return {
    metadata: metadata.name === undefined ? {} : { name: metadata.name },
    versions: versions.map(({ version, resources }) => ({
      version,
      resources: resources.map(({ subresources, ...resource }) => ({
        ...resource,
        responseKind: { ...resource.responseKind, group: '', version: '' },
        ...(subresources && {
          subresources: subresources.map((sub) => ({
            ...sub,
            responseKind: sub.responseKind,
          })),
        }),
      })),
    })),
  }
}

function gatesIn(metrics: string): ReadonlyMap<string, boolean> {
  const found = new Map<string, boolean>()
  for (const [, name, value] of metrics.matchAll(/^kubernetes_feature_enabled\{name="(\w+)",stage="\w*"\} ([01])$/gm)) {
    found.set(name!, value === '1')
  }
  return found
}
