// Semantic versions with the parsing, order and error texts of github.com/blang/semver/v4; the texts surface through
// CEL.
import { goQuote } from '@kubewright/base'

type PreRelease = string | bigint

/** A semantic version. Numbers are unsigned 64-bit. */
export type SemverVersion = {
  readonly major: bigint
  readonly minor: bigint
  readonly patch: bigint
  /** Numeric identifiers are bigints. */
  readonly preRelease: readonly PreRelease[]
}

const UINT64_LIMIT = 2n ** 64n

/** Parses a version. Throws a SyntaxError. Build metadata is checked but does not affect the order. */
export function parseSemver(text: string): SemverVersion {
  if (text === '') throw new SyntaxError('Version string empty')
  const [major, minor, rest] = splitVersion(text)
  if (major === undefined || minor === undefined || rest === undefined) {
    throw new SyntaxError('No Major.Minor.Patch elements found')
  }
  const majorNumber = parseNumber(major, 'major', 'Major')
  const minorNumber = parseNumber(minor, 'minor', 'Minor')
  const plus = rest.indexOf('+')
  const beforeBuild = plus < 0 ? rest : rest.slice(0, plus)
  const dash = beforeBuild.indexOf('-')
  const patch = parseNumber(dash < 0 ? beforeBuild : beforeBuild.slice(0, dash), 'patch', 'Patch')
  const preRelease =
    dash < 0
      ? []
      : beforeBuild
          .slice(dash + 1)
          .split('.')
          .map(parsePreRelease)
  if (plus >= 0)
    rest
      .slice(plus + 1)
      .split('.')
      .forEach(checkBuild)
  return { major: majorNumber, minor: minorNumber, patch, preRelease }
}

/** Like `parseSemver`, but first removes a leading "v" and leading zeros, and fills in missing numbers with 0. */
export function parseSemverNormalized(text: string): SemverVersion {
  const parts = splitVersion(text.startsWith('v') ? text.slice(1) : text).map((part) => {
    if (part.length < 2) return part
    const trimmed = part.replace(/^0+/, '')
    return /^[0-9]/.test(trimmed) ? trimmed : `0${trimmed}`
  })
  if (parts.length < 3) {
    if (/[-+]/.test(parts.at(-1) ?? '')) {
      throw new SyntaxError('short version cannot contain PreRelease/Build meta data')
    }
    while (parts.length < 3) parts.push('0')
  }
  return parseSemver(parts.join('.'))
}

/** Returns -1, 0 or 1 if `a` precedes, equals or follows `b`. */
export function compareSemver(a: SemverVersion, b: SemverVersion): -1 | 0 | 1 {
  const numbers = order(a.major, b.major) || order(a.minor, b.minor) || order(a.patch, b.patch)
  if (numbers !== 0) return numbers
  // A version without pre-release identifiers follows all versions with some.
  if (a.preRelease.length === 0 || b.preRelease.length === 0) return order(b.preRelease.length, a.preRelease.length)
  for (const [i, identifier] of a.preRelease.entries()) {
    const other = b.preRelease[i]
    if (other === undefined) return 1
    const result = comparePreRelease(identifier, other)
    if (result !== 0) return result
  }
  return order(a.preRelease.length, b.preRelease.length)
}

/** Splits at the first two dots only; the third part may contain more dots. */
function splitVersion(text: string): string[] {
  const parts = text.split('.')
  return parts.length <= 3 ? parts : [...parts.slice(0, 2), parts.slice(2).join('.')]
}

function parseNumber(text: string, lower: string, upper: string): bigint {
  if (!/^[0-9]*$/.test(text)) throw new SyntaxError(`Invalid character(s) found in ${lower} number ${goQuote(text)}`)
  if (hasLeadingZeros(text)) throw new SyntaxError(`${upper} number must not contain leading zeroes ${goQuote(text)}`)
  return parseUint(text)
}

function parseUint(text: string): bigint {
  if (text === '') throw new SyntaxError('strconv.ParseUint: parsing "": invalid syntax')
  const value = BigInt(text)
  if (value >= UINT64_LIMIT) throw new SyntaxError(`strconv.ParseUint: parsing ${goQuote(text)}: value out of range`)
  return value
}

function parsePreRelease(text: string): PreRelease {
  if (text === '') throw new SyntaxError('Prerelease is empty')
  if (/^[0-9]+$/.test(text)) {
    if (hasLeadingZeros(text)) {
      throw new SyntaxError(`Numeric PreRelease version must not contain leading zeroes ${goQuote(text)}`)
    }
    return parseUint(text)
  }
  if (!/^[-0-9A-Za-z]+$/.test(text)) throw new SyntaxError(`Invalid character(s) found in prerelease ${goQuote(text)}`)
  return text
}

function checkBuild(text: string): void {
  if (text === '') throw new SyntaxError('Build meta data is empty')
  if (!/^[-0-9A-Za-z]+$/.test(text)) {
    throw new SyntaxError(`Invalid character(s) found in build meta data ${goQuote(text)}`)
  }
}

function hasLeadingZeros(text: string): boolean {
  return text.length > 1 && text.startsWith('0')
}

/** Numeric identifiers precede alphanumeric ones. */
function comparePreRelease(a: PreRelease, b: PreRelease): -1 | 0 | 1 {
  if (typeof a !== typeof b) return typeof a === 'bigint' ? -1 : 1
  return order(a, b)
}

function order(a: PreRelease | number, b: PreRelease | number): -1 | 0 | 1 {
  return a < b ? -1 : a > b ? 1 : 0
}
