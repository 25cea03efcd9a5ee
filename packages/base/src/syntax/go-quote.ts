// Go's strconv.Quote. Kubernetes quotes rejected values with it, so error texts depend on every escape.

/** The characters of Go's one-letter escapes, by the letter after the backslash. Quotes are escaped by themselves. */
export const goEscapes: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
}

const SHORT_ESCAPES: ReadonlyMap<string, string> = new Map([
  ...Object.entries(goEscapes).map(([letter, char]) => [char, `\\${letter}`] as const),
  ['"', '\\"'],
])

/** Text without characters to escape: printable ASCII without the quote and the backslash. */
const PLAIN = /^[ !#-[\]-~]*$/
/** Go's unicode.IsPrint, except for the ASCII space, which is printable too. */
const PRINTABLE = /^[\p{L}\p{M}\p{N}\p{P}\p{S}]$/u

/** Quotes text in double quotes with the escapes of Go's `%q`. Printable Unicode is not escaped. */
export function goQuote(text: string): string {
  if (PLAIN.test(text)) return `"${text}"`
  let out = '"'
  for (const char of text) out += quoteChar(char)
  return `${out}"`
}

/** Quotes text in double quotes with one-letter escapes only: other control characters stay. */
export function shortQuote(text: string): string {
  let out = '"'
  for (const char of text) out += SHORT_ESCAPES.get(char) ?? (isSurrogate(char) ? '\ufffd' : char)
  return `${out}"`
}

function quoteChar(char: string): string {
  const short = SHORT_ESCAPES.get(char)
  if (short !== undefined) return short
  if (char === ' ' || PRINTABLE.test(char)) return char
  if (isSurrogate(char)) return '\ufffd'
  const code = char.codePointAt(0) ?? 0
  if (code < 0x20 || code === 0x7f) return `\\x${code.toString(16).padStart(2, '0')}`
  return code < 0x10000 ? `\\u${code.toString(16).padStart(4, '0')}` : `\\U${code.toString(16).padStart(8, '0')}`
}

/** Whether a character is half of a surrogate pair. A Go string cannot contain one: Go's decoders replace it before it can be quoted. */
function isSurrogate(char: string): boolean {
  return char.length === 1 && char >= '\ud800' && char <= '\udfff'
}
