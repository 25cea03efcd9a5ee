import { errorText } from '@kubewright/base'
import { regexOf } from '@kubewright/cel'

const flagPrefix: Readonly<Record<string, string>> = { i: 'i', m: 'm', s: 's', u: '', v: '' }

/**
 * Returns the text of a `pattern` in RE2 syntax, checked with the grammar that the API server uses. The flags of a
 * RegExp become a prefix such as `(?i)`.
 * @throws TypeError if RE2 rejects the pattern; for a RegExp the usual cause is look-around or a back reference
 */
export function patternSource(pattern: string | RegExp, where: string): string {
  const source = typeof pattern === 'string' ? pattern : fromRegExp(pattern, where)
  try {
    regexOf(source)
  } catch (cause) {
    const reason = errorText(cause)
    const fix = /perl syntax|escape/i.test(reason)
      ? 'the API server uses RE2, which has no look-around, back references or \\u escapes'
      : 'the API server uses RE2 syntax'
    throw new TypeError(
      `Cannot build ${where}: pattern ${JSON.stringify(source)} must be a valid regular expression: ${reason} (${fix})`,
      {
        cause,
      },
    )
  }
  return source
}

function fromRegExp(pattern: RegExp, where: string): string {
  let prefix = ''
  for (const flag of pattern.flags) {
    const inline = flagPrefix[flag]
    if (inline === undefined) {
      throw new TypeError(
        `Cannot build ${where}: pattern ${pattern} has the flag "${flag}", which a CRD cannot express; drop it`,
      )
    }
    prefix += inline
  }
  return prefix === '' ? pattern.source : `(?${prefix})${pattern.source}`
}
