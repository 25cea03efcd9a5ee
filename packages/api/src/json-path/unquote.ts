import { goEscapes } from '@kubewright/base'

/** Decodes a literal in double or single quotes with Go's escapes; undefined when it is malformed. */
export function unquote(literal: string): string | undefined {
  const quote = literal[0]
  if (quote === undefined || literal.length < 2 || quote !== literal.at(-1)) return undefined
  const text = literal.slice(1, -1)
  if (!text.includes('\\') && !text.includes(quote)) return text
  let out = ''
  // \x and octal escapes are UTF-8 bytes, so adjacent ones are collected and decoded together.
  let bytes: number[] = []
  const flush = (): void => {
    if (bytes.length > 0) out += new TextDecoder('utf-8', { ignoreBOM: true }).decode(Uint8Array.from(bytes))
    bytes = []
  }
  for (let at = 0; at < text.length; ) {
    const char = text[at]!
    if (char === quote) return undefined
    if (char !== '\\') {
      flush()
      out += char
      at++
      continue
    }
    const next = text[at + 1] ?? ''
    const numeric = /^(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-7]{3})/.exec(text.slice(at + 1))?.[0]
    if (numeric !== undefined) {
      const code = /^[0-7]/.test(numeric) ? Number.parseInt(numeric, 8) : Number.parseInt(numeric.slice(1), 16)
      if (numeric.startsWith('u') || numeric.startsWith('U')) {
        if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return undefined
        flush()
        out += String.fromCodePoint(code)
      } else {
        if (code > 255) return undefined
        bytes.push(code)
      }
      at += numeric.length + 1
      continue
    }
    const plain = next === quote ? quote : goEscapes[next]
    if (plain === undefined) return undefined
    flush()
    out += plain
    at += 2
  }
  flush()
  return out
}
