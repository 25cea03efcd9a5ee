// The string formats that the API server enforces, with the rules of kube-openapi (pkg/validation/strfmt). They differ
// from the JSON Schema formats of the same name: some are more lenient, some stricter. Any other format name is an
// annotation without effect.
import { parseDuration } from '../duration.ts'
import { base64Prefix } from './base64.ts'
import { IPAddress, parseCIDRSloppy, parseIPSloppy } from './ip.ts'
import { isMailAddress } from './mail-address.ts'
import { digitsAt, isCalendarDate, isDateAt } from './rfc3339.ts'
import { isRequestURI } from './url.ts'

/** Reports whether a value has a format. */
export type FormatCheck = (value: string) => boolean

const HOSTNAME =
  /^(?:[a-zA-Z0-9\p{S}\p{L}](?:-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?|(?:[a-zA-Z0-9\p{S}\p{L}](?:[a-zA-Z0-9\-\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?\.)+[a-zA-Z\p{L}]{2,63})$/u
const CREDIT_CARD =
  /^(?:4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|6(?:011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}|3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35[0-9]{3})[0-9]{11})$/
const COLOR_PART = '[\\t\\n\\f\\r ]*(?:0|[1-9][0-9]?|1[0-9][0-9]?|2[0-4][0-9]|25[0-5])[\\t\\n\\f\\r ]*'
const RGB_COLOR = new RegExp(`^rgb\\(${COLOR_PART},${COLOR_PART},${COLOR_PART}\\)$`)
const MAC = /^(?:[0-9a-f]{2}([:-])(?:[0-9a-f]{2}\1){4}[0-9a-f]{2}|(?:[0-9a-f]{4}\.){2}[0-9a-f]{4})$/i
const EUI64 = /^(?:[0-9a-f]{2}([:-])(?:[0-9a-f]{2}\1){6}[0-9a-f]{2}|(?:[0-9a-f]{4}\.){3}[0-9a-f]{4})$/i
const INFINIBAND = /^(?:[0-9a-f]{2}([:-])(?:[0-9a-f]{2}\1){18}[0-9a-f]{2}|(?:[0-9a-f]{4}\.){9}[0-9a-f]{4})$/i
const TIME_OF_DAY = /^([0-9]{2}):([0-9]{2}):([0-9]{2})(?:.[0-9]+)?(?:z|[+-][0-9]{2}:[0-9]{2})$/
const SHORT_NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/
const LONG_NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/

const matching =
  (pattern: RegExp): FormatCheck =>
  (value) =>
    pattern.test(value)

/** Keyed by normalised name: dashes in format names are ignored. */
const CHECKS: ReadonlyMap<string, FormatCheck> = new Map<string, FormatCheck>([
  ['bsonobjectid', matching(/^[0-9a-fA-F]{24}$/)],
  ['uri', isRequestURI],
  ['email', isMailAddress],
  ['hostname', isHostname],
  ['ipv4', (value) => value.includes('.') && parseIPSloppy(value) !== undefined],
  ['ipv6', isIPv6],
  ['cidr', (value) => parseCIDRSloppy(value) !== undefined],
  ['mac', (value) => MAC.test(value) || EUI64.test(value) || INFINIBAND.test(value)],
  ['uuid', matching(/^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i)],
  ['uuid3', matching(/^[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i)],
  ['uuid4', matching(/^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i)],
  ['uuid5', matching(/^[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i)],
  ['isbn', (value) => isISBN10(value) || isISBN13(value)],
  ['isbn10', isISBN10],
  ['isbn13', isISBN13],
  ['creditcard', isCreditCard],
  ['ssn', (value) => value.length === 11 && /^[0-9]{3}[- ]?[0-9]{2}[- ]?[0-9]{4}$/.test(value)],
  ['hexcolor', matching(/^#?(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/)],
  ['rgbcolor', matching(RGB_COLOR)],
  ['byte', (value) => value !== '' && base64Prefix(value) === value.length],
  ['password', () => true],
  ['date', isCalendarDate],
  ['duration', isOpenAPIDuration],
  ['datetime', isDateTime],
  ['k8sshortname', (value) => value.length <= 63 && SHORT_NAME.test(value)],
  ['k8slongname', (value) => value.length <= 253 && LONG_NAME.test(value)],
])

/**
 * Reports whether the API server enforces the format. Dashes in the name are ignored (`date-time` equals `datetime`).
 */
export function isSupportedFormat(name: string): boolean {
  return CHECKS.has(name.replaceAll('-', ''))
}

/** Returns the check for a format, or undefined if the format has no effect. Callers should look it up once. */
export function formatCheck(name: string): FormatCheck | undefined {
  return CHECKS.get(name.replaceAll('-', ''))
}

/** Reports whether the value has the format. Always false for unsupported formats. */
export function matchesFormat(name: string, value: string): boolean {
  return formatCheck(name)?.(value) ?? false
}

/** Classes of ASCII characters in hostnames. `\p{S}` includes some punctuation. */
const OTHER = 0
const LETTER = 1
const DIGIT_OR_SYMBOL = 2
const HYPHEN = 3
const DOT = 4
const HOSTNAME_PARTS = Uint8Array.from({ length: 128 }, (_, code) => {
  const char = String.fromCharCode(code)
  if (/[a-zA-Z]/.test(char)) return LETTER
  if (/[0-9\p{S}]/u.test(char)) return DIGIT_OR_SYMBOL
  return char === '-' ? HYPHEN : char === '.' ? DOT : OTHER
})

function isHostname(value: string): boolean {
  return isAsciiHostname(value) ?? isUnicodeHostname(value)
}

/**
 * A fast path of {@link isUnicodeHostname} for ASCII values: the same result, or undefined if the value is not ASCII.
 */
function isAsciiHostname(value: string): boolean | undefined {
  const length = value.length
  let start = 0
  let previous = DOT
  let hasOnlyLetters = true
  let hasLateHyphen = false
  let valid = length <= 255
  for (let i = 0; i < length; i++) {
    const code = value.charCodeAt(i)
    if (code > 127) return undefined
    const part = HOSTNAME_PARTS[code]!
    if (part === DOT) {
      if (previous === DOT || previous === HYPHEN || i - start > 63) valid = false
      start = i + 1
      hasOnlyLetters = true
    } else if (part !== LETTER) {
      if (part === OTHER || (part === HYPHEN && previous === DOT)) valid = false
      else if (part === HYPHEN && i !== 1) hasLateHyphen = true
      hasOnlyLetters = false
    }
    previous = part
  }
  const rest = length - start
  if (!valid || rest > 63) return false
  // Names without dots have their own rule: at most one hyphen, as the second character, even at the end.
  return start === 0 ? rest > 0 && !hasLateHyphen : rest >= 2 && hasOnlyLetters
}

function isUnicodeHostname(value: string): boolean {
  if (!HOSTNAME.test(value)) return false
  const encoder = new TextEncoder()
  return encoder.encode(value).length <= 255 && value.split('.').every((part) => encoder.encode(part).length <= 63)
}

function isIPv6(value: string): boolean {
  if (!value.includes(':')) return false
  try {
    return IPAddress.parse(value).zone === ''
  } catch {
    return false
  }
}

function isISBN10(value: string): boolean {
  const digits = value.replace(/[\t\n\f\r -]+/g, '')
  if (!/^(?:[0-9]{9}X|[0-9]{10})$/.test(digits)) return false
  const sum = [...digits].reduce((total, digit, i) => total + (i + 1) * (digit === 'X' ? 10 : Number(digit)), 0)
  return sum % 11 === 0
}

function isISBN13(value: string): boolean {
  const digits = value.replace(/[\t\n\f\r -]+/g, '')
  if (!/^[0-9]{13}$/.test(digits)) return false
  return [...digits].reduce((total, digit, i) => total + (i % 2 === 0 ? 1 : 3) * Number(digit), 0) % 10 === 0
}

/** Accepts card numbers of known issuers with a correct Luhn checksum; any characters may separate the digits. */
function isCreditCard(value: string): boolean {
  const digits = value.replace(/[^0-9]+/g, '')
  if (!CREDIT_CARD.test(digits)) return false
  let sum = 0
  for (let i = 0; i < digits.length; i++) {
    const digit = Number(digits[digits.length - 1 - i])
    sum += i % 2 === 0 ? digit : digit < 5 ? digit * 2 : digit * 2 - 9
  }
  return sum % 10 === 0
}

/** Accepts a date, a `t` and a time of day. As in kube-openapi, the text after a second `t` is ignored. */
function isDateTime(value: string): boolean {
  return isPlainUTC(value) || isLenientDateTime(value)
}

/** A fast path for the most common form in Kubernetes: `2006-01-02T15:04:05Z`. */
function isPlainUTC(value: string): boolean {
  if (value.length !== 20 || value[10] !== 'T' || value[13] !== ':' || value[16] !== ':' || value[19] !== 'Z')
    return false
  const hour = digitsAt(value, 11, 13)
  const minute = digitsAt(value, 14, 16)
  const second = digitsAt(value, 17, 19)
  return hour >= 0 && hour <= 23 && minute >= 0 && minute <= 59 && second >= 0 && second <= 59 && isDateAt(value, 0)
}

function isLenientDateTime(value: string): boolean {
  const [date, time] = value.toLowerCase().split('t')
  if (date === undefined || time === undefined || !isCalendarDate(date)) return false
  const parts = TIME_OF_DAY.exec(time)
  return parts !== null && Number(parts[1]) <= 23 && Number(parts[2]) <= 59 && Number(parts[3]) <= 59
}

const LOOSE_UNITS = /^(?:ns|nano.*|us|µs|micro.*|ms|milli.*|s|sec.*|m|min.*|h|hr|hour.*|d|day.*|w|wk|week.*)$/

/** Accepts Go durations, and any text that contains a number with a unit, such as `3 days`. */
function isOpenAPIDuration(value: string): boolean {
  try {
    parseDuration(value)
    return true
  } catch {
    let found = false
    // Only from the first digit of a number: from each of its digits, the search would take quadratic time.
    for (const [, digits = '', unit = ''] of value.matchAll(/(?<![0-9])([0-9]+)[\t\n\f\r ]*([A-Za-zµ]+)/g)) {
      if (BigInt(digits) >= 2n ** 63n) return false
      found ||= LOOSE_UNITS.test(unit.toLowerCase())
    }
    return found
  }
}
