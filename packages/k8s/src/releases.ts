import { deriveRelease } from './derive-release.ts'
import { parseFeatureGates } from './feature-gates.ts'
import { groups } from './generated/discovery.ts'
import { featureGateNames } from './generated/feature-gates.ts'
import { kindList } from './generated/kind-list.ts'
import { gitVersion } from './generated/recorded.ts'
import { releaseLoaders } from './generated/release-loaders.ts'
import { tableList } from './generated/table-list.ts'
import { Release, type ReleaseFacts } from './release.ts'

export type { FeatureGate } from './feature-gates.ts'
export { lineTable } from './internal/line-table.ts'
export { type GroupVersionKind, Release } from './release.ts'
export { isReleaseRule, type ReleaseRule, releaseRule } from './release-rule.ts'

const facts: ReleaseFacts = {
  version: minorOf(gitVersion),
  gitVersion,
  groups,
  tables: tableList,
  kinds: kindList,
  featureGates: parseFeatureGates(featureGateNames),
}

/** The release whose kinds this package exports, which is served by default. */
export const defaultRelease: Release = new Release(facts)

/** The minor releases that can be served, oldest first. */
export const releaseVersions: readonly string[] = [...Object.keys(releaseLoaders), defaultRelease.version].sort(byMinor)

const loaded = new Map<string, Promise<Release>>()

/**
 * Returns a minor release of Kubernetes, such as `kubernetes('1.36')`; patch releases select their minor release. Calls with the same
 * version return the same value. @default the release of this package's kinds
 */
export async function kubernetes(version: string = defaultRelease.version): Promise<Release> {
  const minor = minorOf(version)
  if (minor === defaultRelease.version) return defaultRelease
  const load = Object.hasOwn(releaseLoaders, minor) ? releaseLoaders[minor] : undefined
  if (!load) {
    const supported = releaseVersions.join(', ')
    throw new RangeError(`Cannot serve Kubernetes ${JSON.stringify(version)}: the supported releases are ${supported}`)
  }
  let release = loaded.get(minor)
  if (!release) loaded.set(minor, (release = load().then(({ changes }) => deriveRelease(facts, changes))))
  return release
}

/** `1.36` of `1.36`, `v1.36.4` or `1.36.4-rc.1`. */
function minorOf(version: string): string {
  return /^v?(\d+\.\d+)(\.|$)/.exec(version)?.[1] ?? version
}

function byMinor(a: string, b: string): number {
  return Number(a.slice(2)) - Number(b.slice(2))
}
