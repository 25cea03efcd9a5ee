import { ApiSyntaxError } from '../api-syntax-error.ts'
import { JsonReader, type JsonReaderOptions } from './json-reader.ts'
import { countFields, countKnownFields } from './scan-json.ts'

/** What {@link decodeJson} found: the value, and what strict field validation would say about it. */
export interface Decoded {
  readonly value: unknown
  /** `unknown field "spec.x"`, `duplicate field "spec.y"`, in document order; empty unless strict. */
  readonly strictErrors: readonly string[]
}

const utf8 = new TextDecoder('utf-8', { ignoreBOM: true })

/**
 * Parses JSON with Kubernetes' number rules and Go's error texts: integers are exact (a bigint beyond 2^53), the last of repeated
 * fields wins. Little slower than `JSON.parse`, which does the work for nearly all inputs.
 */
export function parseJson(input: string | Uint8Array): unknown {
  const text = typeof input === 'string' ? input : utf8.decode(input)
  const value = parseUsual(text)
  return value !== undefined && countFields(input) >= 0 ? value : read(input, text, {}).value
}

/**
 * Parses JSON as the API server decodes a request body. With `strict`, repeated fields are reported; with a `schema` as well,
 * unknown ones are. Nothing is thrown for those: whether they are errors, warnings or nothing is the caller's policy.
 */
export function decodeJson(input: string | Uint8Array, options: JsonReaderOptions = {}): Decoded {
  if (!options.strict && options.schema === undefined) return { value: parseJson(input), strictErrors: [] }
  const text = typeof input === 'string' ? input : utf8.decode(input)
  const value = parseUsual(text)
  const fields = value === undefined ? -1 : countFields(input)
  // No field was lost to a repetition if as many came out as went in.
  if (fields >= 0 && countKnownFields(value, options.schema) === fields) return { value, strictErrors: [] }
  return read(input, text, options)
}

/** What `JSON.parse` makes of the text; `undefined` if it is not JSON, which the own reader explains. */
function parseUsual(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The error text for strict errors: `strict decoding error: unknown field "a", duplicate field "b"`. */
export function strictDecodingMessage(errors: readonly string[]): string {
  return `strict decoding error: ${errors.join(', ')}`
}

function read(input: string | Uint8Array, text: string, options: JsonReaderOptions): Decoded {
  const reader = new JsonReader(text, options)
  try {
    const value = reader.read()
    return { value, strictErrors: reader.strictErrors }
  } catch (error) {
    // Bytes that are no UTF-8 were replaced above; Go names the original byte, so find it by reading byte by byte.
    if (typeof input !== 'string' && error instanceof ApiSyntaxError)
      new JsonReader(latin1(input), { bytes: true }).read()
    throw error
  }
}

function latin1(bytes: Uint8Array): string {
  let text = ''
  for (let at = 0; at < bytes.length; at += 8192) text += String.fromCharCode(...bytes.subarray(at, at + 8192))
  return text
}
