import { compareResourceVersions, isComparableResourceVersion } from '@kubewright/api'

/** Whether `version` is `wanted` or newer; false when they cannot be compared. */
export function hasReached(version: string, wanted: string): boolean {
  if (version === wanted) return version !== ''
  if (!isComparableResourceVersion(version) || !isComparableResourceVersion(wanted)) return false
  return compareResourceVersions(version, wanted) >= 0
}

/** The oldest of several versions; empty when one of them is empty or cannot be compared. */
export function oldestVersion(versions: readonly string[]): string {
  const [first = '', ...others] = versions
  let oldest = first
  for (const version of others) {
    if (hasReached(version, oldest)) continue
    if (!hasReached(oldest, version)) return ''
    oldest = version
  }
  return oldest
}
