// Reads the facts of the built-in API back from packages/k8s, whose notation is lossless, so that a change of a description
// needs no recording.
import type { GroupDiscovery } from '../../packages/k8s/src/discovery.ts'
import { defaultRelease, type Release } from '../../packages/k8s/src/releases.ts'
import { type ApiFacts, type DiscoveredGroup, factsOf, type PublishedSchema } from './api-facts.ts'

/** Returns the facts of a release, as the package has them. */
export function packageFacts(release: Release = defaultRelease): ApiFacts {
  const schemas = (version: 'v2' | 'v3'): Record<string, PublishedSchema> =>
    Object.fromEntries(
      release.schemaNames().map((name) => [name, release.publishedSchema(name, version) as PublishedSchema]),
    )
  return factsOf(release.gitVersion, schemas('v3'), schemas('v2'), publishedGroups(release.groups))
}

/** Returns groups in the form of the aggregated discovery document. */
export function publishedGroups(groups: readonly GroupDiscovery[]): DiscoveredGroup[] {
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
