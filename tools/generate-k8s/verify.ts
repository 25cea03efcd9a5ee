// Imports the generated modules and compares them with the facts: the notation must be lossless.
import { isDeepStrictEqual } from 'node:util'
import type { ApiFacts, DiscoveredGroup } from './api-facts.ts'
import { publishedGroups } from './package-facts.ts'

/** Throws unless the generated package publishes exactly the facts. */
export async function verify(facts: ApiFacts): Promise<string> {
  const { openApiV2Schema, openApiV3Schema, schemaNames } = await import('../../packages/k8s/src/schemas.ts')
  const { discoveryGroups } = await import('../../packages/k8s/src/discovery.ts')
  const { builtinKinds } = await import('../../packages/k8s/src/all.ts')
  const wrong: string[] = []
  let count = 0
  for (const definitions of facts.tables.values()) {
    for (const { published, schema } of definitions) {
      count++
      if (!isDeepStrictEqual(openApiV3Schema(published), schema)) wrong.push(`v3 ${published}`)
      if (!isDeepStrictEqual(openApiV2Schema(published), facts.v2[published])) wrong.push(`v2 ${published}`)
    }
  }
  if (schemaNames().length !== count) wrong.push(`${schemaNames().length} definitions instead of ${count}`)
  if (!isDeepStrictEqual(publishedGroups(discoveryGroups()), facts.groups.map(withoutFreshness)))
    wrong.push('discovery')
  if (builtinKinds().length !== facts.kinds.size) wrong.push('kinds')
  if (wrong.length > 0) throw new Error(`The generated package differs from the facts:\n  ${wrong.join('\n  ')}`)
  return `${count} definitions, ${facts.kinds.size} kinds and ${facts.groups.length} groups match the facts`
}

function withoutFreshness({ metadata, versions }: DiscoveredGroup): unknown {
  return {
    metadata: metadata.name === undefined ? {} : { name: metadata.name },
    versions: versions.map(({ version, resources }) => ({ version, resources })),
  }
}
