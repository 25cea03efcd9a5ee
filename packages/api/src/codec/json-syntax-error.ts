import { goQuote, utf8Length } from '@kubewright/base'
import { ApiSyntaxError } from '../api-syntax-error.ts'

// At the end of the input, Go feeds its scanner one more space. In these states the space is the invalid character that
// Go reports.
const spaceIsWrong = /^in (literal|numeric|exponent|string escape|\\u)|^after decimal/

/**
 * A text is not valid JSON. The message is that of Go's encoding/json: `invalid character 'x' looking for beginning of
 * value` or `unexpected end of JSON input`.
 */
export class JsonSyntaxError extends ApiSyntaxError {
  /** The number of bytes read when the error was found, including the invalid one. */
  readonly offset: number

  static {
    Object.defineProperty(JsonSyntaxError.prototype, 'name', {
      value: 'JsonSyntaxError',
      writable: true,
      configurable: true,
    })
  }

  /**
   * `at` is the index of the invalid character, `context` is Go's wording for the scanner state there, and `bytes`
   * means that each character of the text is one byte.
   */
  constructor(text: string, at: number, context: string, bytes = false) {
    super(messageFor(text, at, context, bytes))
    this.offset = (bytes ? at : utf8Length(text.slice(0, at))) + (at < text.length ? 1 : 0)
  }
}

/** A number of a JSON text is outside the range of a float64. The message is that of Go's encoding/json. */
export class JsonRangeError extends ApiSyntaxError {
  constructor(literal: string) {
    super(`json: cannot unmarshal number ${literal} into Go value of type float64`)
  }
}

function messageFor(text: string, at: number, context: string, bytes: boolean): string {
  if (at < text.length) {
    const code = text.codePointAt(at)!
    return `invalid character ${quoteByte(bytes ? code : leadByte(code))} ${context}`
  }
  return spaceIsWrong.test(context) ? `invalid character ' ' ${context}` : 'unexpected end of JSON input'
}

// Go scans bytes and prints the invalid byte as if it were a code point.
function quoteByte(byte: number): string {
  if (byte === 0x27) return "'\\''"
  if (byte === 0x22) return "'\"'"
  return `'${goQuote(String.fromCharCode(byte)).slice(1, -1)}'`
}

function leadByte(codePoint: number): number {
  if (codePoint < 0x80) return codePoint
  if (codePoint < 0x800) return 0xc0 | (codePoint >> 6)
  if (codePoint < 0x10000) return 0xe0 | (codePoint >> 12)
  return 0xf0 | (codePoint >> 18)
}
