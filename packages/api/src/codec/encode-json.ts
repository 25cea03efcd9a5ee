import { compareUtf8 } from '@kubewright/schema'

/** How {@link encodeJson} writes. */
export interface EncodeJsonOptions {
  /** Sort the fields of every object, as Go does for objects without a Go type (custom resources). @default false */
  readonly sortKeys?: boolean | undefined
  /** Indent by this text and put a space after colons, as `json.MarshalIndent` does. @default '' */
  readonly indent?: string | undefined
}

const differsFromGo = /[<>&\u2028\u2029]|\\ud[89a-f]/
const htmlUnsafe = /[<>&\u2028\u2029]/g
const loneSurrogate = /\\ud[89a-f][0-9a-f]{2}/g

/**
 * Prints JSON as Kubernetes' serializer does: integers beyond 2^53 (bigint) exactly, `<`, `>` and `&` escaped, undefined fields
 * left out. No newline at the end, which the server's encoder adds.
 */
export function encodeJson(value: unknown, options: EncodeJsonOptions = {}): string {
  const { sortKeys = false, indent = '' } = options
  if (!sortKeys) {
    try {
      return escapeLikeGo(JSON.stringify(value, undefined, indent))
    } catch (error) {
      // A bigint is what JSON.stringify refuses; looking for one first would cost every call.
      if (!hasBigint(value)) throw error
    }
  }
  return escapeLikeGo(write(value, sortKeys, indent, '\n'))
}

function escapeLikeGo(text: string): string {
  if (!differsFromGo.test(text)) return text
  return text.replace(htmlUnsafe, unicodeEscape).replace(loneSurrogate, (match, at: number, all: string) => {
    // An escaped backslash before it means that this is text and no escape.
    return precedingBackslashes(all, at) % 2 === 0 ? '\\ufffd' : match
  })
}

function precedingBackslashes(text: string, at: number): number {
  let count = 0
  while (text[at - 1 - count] === '\\') count++
  return count
}

function unicodeEscape(char: string): string {
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`
}

function hasBigint(value: unknown): boolean {
  if (typeof value === 'bigint') return true
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) return value.some(hasBigint)
  for (const key in value) if (hasBigint((value as Record<string, unknown>)[key])) return true
  return false
}

// What JSON.stringify would write, for the values and orders that it cannot do.
function write(value: unknown, sortKeys: boolean, indent: string, newline: string): string {
  if (typeof value === 'bigint') return value.toString()
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const inner = indent === '' ? '' : newline + indent
  const outer = indent === '' ? '' : newline
  let out = ''
  if (Array.isArray(value)) {
    if (value.length === 0) return '[]'
    for (const item of value)
      out += `${out === '' ? '[' : ','}${inner}${write(item, sortKeys, indent, newline + indent)}`
    return `${out}${outer}]`
  }
  const object = value as Record<string, unknown>
  const keys = Object.keys(object)
  if (sortKeys) sortByBytes(keys)
  const colon = indent === '' ? ':' : ': '
  for (const key of keys) {
    const field = object[key]
    if (field === undefined) continue
    out += `${out === '' ? '{' : ','}${inner}${JSON.stringify(key)}${colon}${write(field, sortKeys, indent, newline + indent)}`
  }
  return out === '' ? '{}' : `${out}${outer}}`
}

// JavaScript's own order is that of the bytes unless there are characters beyond the surrogates, and it is much faster.
function sortByBytes(keys: string[]): void {
  if (keys.some((key) => /[\ud800-\uffff]/.test(key))) keys.sort(compareUtf8)
  else keys.sort()
}
