import { append, CaughtError, goEscapes } from '@kubewright/base'

const SIMPLE: Readonly<Record<string, string>> = { ...goEscapes, "'": "'", '"': '"', '`': '`', '?': '?' }

interface Body {
  readonly text: string
  readonly raw: boolean
}

/** Returns the text between the quotes of a literal, with line ends normalised to `\n`. */
function bodyOf(literal: string): Body {
  let text = literal.replaceAll('\r\n', '\n').replaceAll('\r', '\n')
  const raw = text[0] === 'r' || text[0] === 'R'
  if (raw) text = text.slice(1)
  const quotes = text.length >= 6 && (text.startsWith('"""') || text.startsWith("'''")) ? 3 : 1
  return { text: text.slice(quotes, -quotes), raw }
}

/** Returns the value of a string literal. Throws cel-go's message for an escape that is not a valid code point. */
export function unescapeString(literal: string): string {
  const { text, raw } = bodyOf(literal)
  if (raw || !text.includes('\\')) return text
  return text.replace(
    /\\(?:([xX])([0-9a-fA-F]{2})|(u)([0-9a-fA-F]{4})|(U)([0-9a-fA-F]{8})|([0-3][0-7][0-7])|(.))/gsu,
    (...m) => {
      const hex = (m[2] ?? m[4] ?? m[6]) as string | undefined
      if (hex !== undefined) return fromCodePoint(Number.parseInt(hex, 16))
      if (m[7] !== undefined) return fromCodePoint(Number.parseInt(m[7] as string, 8))
      return SIMPLE[m[8] as string] ?? ''
    },
  )
}

function fromCodePoint(value: number): string {
  if (value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff)) throw new CaughtError('invalid unicode code point')
  return String.fromCodePoint(value)
}

/**
 * Returns the value of a bytes literal without its `b`. Octal and hex escapes are bytes; other characters are encoded
 * as UTF-8.
 */
export function unescapeBytes(literal: string): Uint8Array {
  const { text, raw } = bodyOf(literal)
  if (raw || !text.includes('\\')) return new TextEncoder().encode(text)
  const bytes: number[] = []
  const encoder = new TextEncoder()
  for (const [part] of text.matchAll(
    /\\(?:[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-3][0-7][0-7]|.)|[^\\]+/gsu,
  )) {
    if (!part.startsWith('\\')) append(bytes, encoder.encode(part))
    else if (part[1] === 'x' || part[1] === 'X') bytes.push(Number.parseInt(part.slice(2), 16))
    else if (part[1] === 'u' || part[1] === 'U') throw new CaughtError('unable to unescape string')
    else if (/^\\[0-3]/.test(part)) bytes.push(Number.parseInt(part.slice(1), 8) & 0xff)
    else bytes.push(SIMPLE[part[1]!]!.charCodeAt(0))
  }
  return new Uint8Array(bytes)
}
