import { parseDuration } from '@kubewright/base'
import { CelError } from '../values/cel-error.ts'

/**
 * The spellings of each unit and its nanoseconds. The last spelling also matches every longer word that starts with it.
 */
const UNITS: readonly (readonly [readonly string[], bigint])[] = [
  [['ns', 'nano'], 1n],
  [['us', 'µs', 'micro'], 1_000n],
  [['ms', 'milli'], 1_000_000n],
  [['s', 'sec'], 1_000_000_000n],
  [['m', 'min'], 60_000_000_000n],
  [['h', 'hr', 'hour'], 3_600_000_000_000n],
  [['d', 'day'], 86_400_000_000_000n],
  [['w', 'wk', 'week'], 604_800_000_000_000n],
]

/**
 * Parses a string of format `duration` to nanoseconds: Go's syntax, or numbers with unit words such as
 * `3 days 2 hours`.
 */
export function parseOpenAPIDuration(text: string): bigint {
  try {
    return parseDuration(text)
  } catch {
    let nanos: bigint | undefined
    // Only from the first digit of a number: from each of its digits, the search would take quadratic time.
    for (const match of text.matchAll(/(?<!\d)(\d+)\s*([A-Za-zµ]+)/g)) {
      const unit = match[2]!.toLowerCase()
      for (const [names, perUnit] of UNITS) {
        if (names.includes(unit) || unit.startsWith(names[names.length - 1]!)) {
          nanos = (nanos ?? 0n) + BigInt(match[1]!) * perUnit
        }
      }
    }
    if (nanos === undefined) throw new CelError(`Invalid duration ${text}: unable to parse ${text} as duration`)
    return nanos
  }
}
