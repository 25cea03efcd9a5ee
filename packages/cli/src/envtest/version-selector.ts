import { UsageError } from '@kubewright/base'

/** Whether a selector accepts a version such as `1.36.4`. */
export type VersionSelector = (version: string) => boolean

/** Compares versions such as `1.36.4`; a release candidate comes before its release. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [partsOf(a), partsOf(b)]
  for (const at of [0, 1, 2]) {
    const difference = (left.numbers[at] ?? 0) - (right.numbers[at] ?? 0)
    if (difference !== 0) return difference
  }
  if (left.candidate === right.candidate) return 0
  if (left.candidate === '' || right.candidate === '') return left.candidate === '' ? 1 : -1
  return left.candidate < right.candidate ? -1 : 1
}

/**
 * Parses a selector of setup-envtest: `1.36`, `1.36.x`, `1.36.*` (any patch release), `1.36.4`, `~1.36.2` (this patch release or a later one of
 * the same minor release), `<1.36` (earlier releases); a `!` at the end has no effect, because no server is asked. Without a
 * selector, and with `latest`, every version is accepted. Throws {@link UsageError} for other texts.
 */
export function versionSelector(text: string | undefined): VersionSelector {
  if (text === undefined || text === 'latest' || text === 'latest-on-disk') return () => true
  const found = /^([~<]?)v?(\d+)\.(\d+)(?:\.(\d+(?:-[0-9a-z.]+)?|x|\*))?!?$/.exec(text)
  if (!found) throw new UsageError(`VERSION must be a version such as 1.36, 1.36.4, ~1.36.2 or <1.36, not "${text}"`)
  const [, operator, major, minor, patch] = found
  const line = `${major}.${minor}.`
  const isAny = patch === undefined || patch === 'x' || patch === '*'
  const bound = `${line}${isAny ? '0' : patch}`
  if (operator === '<') return (version) => compareVersions(version, bound) < 0
  if (operator === '~') return (version) => version.startsWith(line) && compareVersions(version, bound) >= 0
  return (version) => (isAny ? version.startsWith(line) : version === bound)
}

function partsOf(version: string): { readonly numbers: readonly number[]; readonly candidate: string } {
  const [numbers = '', ...candidate] = version.split('-')
  return { numbers: numbers.split('.').map(Number), candidate: candidate.join('-') }
}
