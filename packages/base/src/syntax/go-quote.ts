// Go's strconv.Quote. Kubernetes quotes rejected values with it, so error texts depend on every escape.

const SHORT_ESCAPES: Readonly<Record<string, string>> = {
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '\\': '\\\\',
  '"': '\\"',
}

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

function quoteChar(char: string): string {
  const short = SHORT_ESCAPES[char]
  if (short !== undefined) return short
  if (char === ' ' || PRINTABLE.test(char)) return char
  const code = char.codePointAt(0) ?? 0
  // A Go string cannot contain half a surrogate pair: Go's decoders replace it before it can be quoted.
  if (code >= 0xd800 && code <= 0xdfff) return '\ufffd'
  if (code < 0x20 || code === 0x7f) return `\\x${code.toString(16).padStart(2, '0')}`
  return code < 0x10000 ? `\\u${code.toString(16).padStart(4, '0')}` : `\\U${code.toString(16).padStart(8, '0')}`
}
