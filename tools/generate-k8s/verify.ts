// Compares a release of the package with the facts: the notation must be lossless.
import { isDeepStrictEqual } from 'node:util'
import type { Release } from '../../packages/k8s/src/releases.ts'
import type { ApiFacts, DiscoveredGroup } from './api-facts.ts'
import { publishedGroups } from './package-facts.ts'

/** Throws unless the release has exactly the facts. */
export function verify(release: Release, facts: ApiFacts): string {
  const wrong: string[] = []
  let count = 0
  for (const definitions of facts.tables.values()) {
    for (const { published, schema } of definitions) {
      count++
      if (!isDeepStrictEqual(release.publishedSchema(published, 'v3'), schema)) wrong.push(`v3 ${published}`)
      if (!isDeepStrictEqual(release.publishedSchema(published, 'v2'), facts.v2[published]))
        wrong.push(`v2 ${published}`)
    }
  }
  const names = release.schemaNames().length
  if (names !== count) wrong.push(`${names} definitions instead of ${count}`)
  if (!isDeepStrictEqual(publishedGroups(release.groups), facts.groups.map(withoutFreshness))) wrong.push('discovery')
  if (release.kinds.length !== facts.kinds.size) wrong.push('kinds')
  if (wrong.length > 0) throw new Error(`The generated package differs from the facts:\n  ${wrong.join('\n  ')}`)
  return `${release.version}: ${count} definitions, ${facts.kinds.size} kinds and ${facts.groups.length} groups match the facts`
}

function withoutFreshness({ metadata, versions }: DiscoveredGroup): unknown {
  return {
    metadata: metadata.name === undefined ? {} : { name: metadata.name },
    versions: versions.map(({ version, resources }) => ({ version, resources })),
  }
}
