import { type AnyKind, formatGroupKind, type ResolvedResource, resourceOf } from '@kubewright/api'
import { type LostField, lostFields } from '@kubewright/schema'
import type { Conversion } from './define-conversion.ts'

/**
 * Describes the first resource whose versions lose fields of each other and that has no conversion; undefined if there
 * is none. Without a conversion, the API server changes only the apiVersion of an object and prunes the rest. Skips
 * external resources and those whose definition says `conversion: 'none'`.
 */
export function lossyVersions(
  kinds: readonly (AnyKind | undefined)[],
  conversions: readonly Pick<Conversion, 'hub'>[],
): string | undefined {
  const converted = new Set(conversions.map(({ hub }) => formatGroupKind(hub)))
  for (const kind of new Set(kinds)) {
    const resource = kind && resourceOf(kind)
    if (kind === undefined || resource === undefined || resource.external || resource.mayLoseFields) continue
    if (converted.has(formatGroupKind(kind))) continue
    const losses = lossesOf(resource)
    if (losses.length === 0) continue
    return (
      `${kind.kind} has versions with different fields and no conversion: ${losses.join('; ')}. ` +
      `Add a conversion to 'conversions', as in defineConversion(${kind.kind}, [...]), ` +
      `or accept the loss with conversion: 'none' in defineResource`
    )
  }
  return undefined
}

/** The losses between the storage version and each other version, in both directions. */
function lossesOf({ versions }: ResolvedResource): string[] {
  const stored = versions.find(({ storage }) => storage)
  if (stored === undefined) return []
  return versions
    .filter((version) => version !== stored)
    .flatMap((version) =>
      [
        [version, stored],
        [stored, version],
      ].flatMap(([from, to]) => {
        const lost = lostFields(from!.schema, to!.schema)
        return lost.length === 0 ? [] : [`from ${from!.name} to ${to!.name}, objects lose ${listOf(lost)}`]
      }),
    )
}

const listed = 10

function listOf(lost: readonly LostField[]): string {
  const texts = lost.slice(0, listed).map(({ path, types }) => (types === undefined ? path : `${path} (${types})`))
  return lost.length > listed ? `${texts.join(', ')} and ${lost.length - listed} more` : texts.join(', ')
}
