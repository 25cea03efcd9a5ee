import { goQuote } from '@kubewright/base'
import { ApiSyntaxError } from './api-syntax-error.ts'

const wellFormed = /^[1-9][0-9]*$/

/**
 * Compares two resource versions of the same resource (KEP-5504): negative when `a` is older, 0 when they are equal. A
 * version is a positive decimal number of any length without leading zeros. Throws {@link ApiSyntaxError} for anything
 * else, including `0`.
 */
export function compareResourceVersions(a: string, b: string): number {
  check(a)
  check(b)
  // Without leading zeros the longer number is the larger one, and digits of equal length compare as text.
  if (a.length !== b.length) return a.length - b.length
  return a < b ? -1 : a > b ? 1 : 0
}

/** Whether {@link compareResourceVersions} accepts the text. */
export function isComparableResourceVersion(text: string): boolean {
  return wellFormed.test(text)
}

function check(version: string): void {
  if (!wellFormed.test(version)) throw new ApiSyntaxError(`resource version is not well formed: ${version}`)
}

const maxUint64 = '18446744073709551615'

/**
 * Parses the `resourceVersion` of a request as the server's storage layer does: the empty string and `0` mean "any" and
 * give `'0'`. Returns the number without leading zeros. The error has the `strconv.ParseUint` message that
 * kube-apiserver puts into its response.
 */
export function parseResourceVersion(text: string): string {
  if (text === '' || text === '0') return '0'
  const problem = parseUintProblem(text)
  if (problem !== undefined) throw new ApiSyntaxError(problem)
  return text.replace(/^0+(?=[0-9])/, '')
}

/** The error message of Go's `strconv.ParseUint(text, 10, 64)`, or undefined when it succeeds. */
export function parseUintProblem(text: string): string | undefined {
  if (!/^[0-9]+$/.test(text)) return `strconv.ParseUint: parsing ${goQuote(text)}: invalid syntax`
  const digits = text.replace(/^0+/, '')
  const tooLarge = digits.length > maxUint64.length || (digits.length === maxUint64.length && digits > maxUint64)
  return tooLarge ? `strconv.ParseUint: parsing ${goQuote(text)}: value out of range` : undefined
}
