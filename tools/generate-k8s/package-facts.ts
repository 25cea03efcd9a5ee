// Reads the facts of the built-in API back from packages/k8s, whose notation is lossless, so that a change of a description
// needs no recording.
import { discoveryGroups } from '../../packages/k8s/src/discovery.ts'
import { openApiV2Schema, openApiV3Schema, schemaNames } from '../../packages/k8s/src/schemas.ts'
import { type ApiFacts, type DiscoveredGroup, factsOf, type PublishedSchema } from './api-facts.ts'

/** Returns the facts from which the package was generated. */
export function packageFacts(): ApiFacts {
  const schemas = (read: (name: string) => unknown): Record<string, PublishedSchema> =>
    Object.fromEntries(schemaNames().map((name) => [name, read(name) as PublishedSchema]))
  return factsOf(schemas(openApiV3Schema), schemas(openApiV2Schema), publishedGroups(discoveryGroups()))
}

/** Returns groups in the form of the aggregated discovery document. */
export function publishedGroups(groups: ReturnType<typeof discoveryGroups>): DiscoveredGroup[] {
  return groups.map(({ group, versions }) => ({
    metadata: group === '' ? {} : { name: group },
    versions: versions.map(({ version, resources }) => ({
      version,
      resources: resources.map(({ kind, singular, subresources, ...resource }) => ({
        ...resource,
        responseKind: { group: '', version: '', kind },
        singularResource: singular,
        ...(subresources && {
          subresources: subresources.map(({ name, group: g = '', version: v = '', kind: k, verbs }) => ({
            subresource: name,
            responseKind: { group: g, version: v, kind: k },
            verbs,
          })),
        }),
      })),
    })),
  }))
}
