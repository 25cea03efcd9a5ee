import { compareUtf8 } from '@kubewright/base'

/** Options of {@link encodeJson}. */
export interface EncodeJsonOptions {
  /** Sorts the fields of every object, as Go does for objects without a Go type (custom resources). @default false */
  readonly sortKeys?: boolean | undefined
  /** Indents by this text and puts a space after each colon, as `json.MarshalIndent` does. @default '' */
  readonly indent?: string | undefined
}

const differsFromGo = /[<>&\u2028\u2029]|\\ud[89a-f]/
const htmlUnsafe = /[<>&\u2028\u2029]/g
const loneSurrogate = /\\ud[89a-f][0-9a-f]{2}/g

/**
 * Encodes JSON as Kubernetes' serializer does: bigints are written exactly, `<`, `>` and `&` are escaped, undefined
 * fields are omitted. Does not end with a newline; the server's encoder adds one.
 */
export function encodeJson(value: unknown, options: EncodeJsonOptions = {}): string {
  const { sortKeys = false, indent = '' } = options
  if (!sortKeys) {
    try {
      return escapeLikeGo(JSON.stringify(value, undefined, indent))
    } catch (error) {
      // JSON.stringify throws for a bigint. Searching for one before each call would slow down every call.
      if (!hasBigint(value)) throw error
    }
  }
  return escapeLikeGo(write(value, sortKeys, indent, '\n'))
}

function escapeLikeGo(text: string): string {
  if (!differsFromGo.test(text)) return text
  return text.replace(htmlUnsafe, unicodeEscape).replace(loneSurrogate, (match, at: number, all: string) => {
    // After an odd number of backslashes this is literal text, not an escape sequence.
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

// Writes like JSON.stringify, and supports bigints and sorted keys, which JSON.stringify does not.
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

// The default sort compares UTF-16 units. It equals byte order, and is much faster, unless a key has surrogates or
// characters after them.
function sortByBytes(keys: string[]): void {
  if (keys.some((key) => /[\ud800-\uffff]/.test(key))) keys.sort(compareUtf8)
  else keys.sort()
}
