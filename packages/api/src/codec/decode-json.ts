import { ApiSyntaxError } from '../api-syntax-error.ts'
import { JsonReader, type JsonReaderOptions } from './json-reader.ts'
import { countFields, countKnownFields } from './scan-json.ts'

/** The result of {@link decodeJson}: the value and the problems that strict field validation finds in it. */
export interface Decoded {
  readonly value: unknown
  /** Such as `unknown field "spec.x"` and `duplicate field "spec.y"`, in document order. Empty unless strict. */
  readonly strictErrors: readonly string[]
}

const utf8 = new TextDecoder('utf-8', { ignoreBOM: true })

/**
 * Parses JSON with Kubernetes' number rules and Go's error messages: integers are exact (a bigint beyond 2^53), and the
 * last of duplicate fields wins. Almost as fast as `JSON.parse`, which does the work for nearly all inputs.
 */
export function parseJson(input: string | Uint8Array): unknown {
  const text = typeof input === 'string' ? input : utf8.decode(input)
  const value = parseUsual(text)
  return value !== undefined && countFields(input) >= 0 ? value : read(input, text, {}).value
}

/** As {@link parseJson}, but numbers with a fraction or an exponent become a {@link JsonFloat}. */
export function parseJsonFloats(input: Uint8Array): unknown {
  return read(input, utf8.decode(input), { keepFloats: true }).value
}

/**
 * Parses JSON as the API server decodes a request body. With `strict`, duplicate fields are reported in `strictErrors`;
 * with a `schema` as well, unknown fields are too. It never throws for them: the caller decides whether they are
 * errors, warnings or ignored. Throws {@link ApiSyntaxError} only when the input is not JSON.
 */
export function decodeJson(input: string | Uint8Array, options: JsonReaderOptions = {}): Decoded {
  if (!options.strict && options.schema === undefined) return { value: parseJson(input), strictErrors: [] }
  const text = typeof input === 'string' ? input : utf8.decode(input)
  const value = parseUsual(text)
  const fields = value === undefined ? -1 : countFields(input)
  // Equal counts before and after parsing prove that no field was a duplicate.
  if (fields >= 0 && countKnownFields(value, options.schema) === fields) return { value, strictErrors: [] }
  return read(input, text, options)
}

/** The result of `JSON.parse`, or undefined when the text is not JSON. {@link JsonReader} then produces the error. */
function parseUsual(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The message that combines strict errors: `strict decoding error: unknown field "a", duplicate field "b"`. */
export function strictDecodingMessage(errors: readonly string[]): string {
  return `strict decoding error: ${errors.join(', ')}`
}

function read(input: string | Uint8Array, text: string, options: JsonReaderOptions): Decoded {
  const reader = new JsonReader(text, options)
  try {
    const value = reader.read()
    return { value, strictErrors: reader.strictErrors }
  } catch (error) {
    // Decoding replaced invalid UTF-8. Go's message names the original byte, so read the input again byte by byte.
    if (typeof input !== 'string' && error instanceof ApiSyntaxError)
      new JsonReader(latin1(input), { bytes: true }).read()
    throw error
  }
}

function latin1(bytes: Uint8Array): string {
  let text = ''
  for (let at = 0; at < bytes.length; at += 8192)
    text += String.fromCharCode.apply(null, bytes.subarray(at, at + 8192) as unknown as number[])
  return text
}
