import { goQuote } from '@kubewright/base'
import type { IntOrString } from '@kubewright/schema'

const minInt32 = -(2 ** 31)
const maxInt32 = 2 ** 31 - 1

/** Parses text as kubectl flags do: an int32 gives a number, anything else the string itself. */
export function parseIntOrString(text: string): IntOrString {
  if (!/^[+-]?[0-9]+$/.test(text)) return text
  const value = Number(text)
  return value >= minInt32 && value <= maxInt32 ? value + 0 : text
}

/** The integer value: a string is parsed as an integer and gives 0 when it is not one (`IntValue` in Go). */
export function intValue(value: IntOrString): number {
  if (typeof value === 'number') return value
  return /^[+-]?[0-9]+$/.test(value) ? Number(value) : 0
}

/**
 * Resolves a count or a percentage of `total` (`GetScaledValueFromIntOrPercent` in Go): `3` is 3, `'25%'` is a quarter,
 * rounded up or down. A string without a percent sign throws a TypeError, even when it is a number.
 */
export function scaledValue(value: IntOrString | undefined, total: number, roundUp: boolean): number {
  if (value === undefined) throw new TypeError('nil value for IntOrString')
  if (typeof value === 'number') return value
  if (!value.endsWith('%'))
    throw new TypeError('invalid value for IntOrString: invalid type: string is not a percentage')
  const digits = value.slice(0, -1)
  const percent = Number(digits)
  if (!/^[+-]?[0-9]+$/.test(digits) || !Number.isSafeInteger(percent)) {
    const why = /^[+-]?[0-9]+$/.test(digits) ? 'value out of range' : 'invalid syntax'
    throw new TypeError(
      `invalid value for IntOrString: invalid value ${goQuote(value)}: strconv.Atoi: parsing ${goQuote(digits)}: ${why}`,
    )
  }
  const scaled = (percent * total) / 100
  return roundUp ? Math.ceil(scaled) : Math.floor(scaled)
}
