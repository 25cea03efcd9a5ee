import { ApiSyntaxError } from '../api-syntax-error.ts'
import { type Decoded, decodeJson } from './decode-json.ts'
import { encodeJson } from './encode-json.ts'
import type { JsonReaderOptions } from './json-reader.ts'
import { looksLikeJson } from './looks-like-json.ts'
import { parseYamlNodes } from './yaml/parse-yaml-nodes.ts'
import { YamlValues } from './yaml/yaml-values.ts'

/**
 * Parses the first document of a YAML text as kubectl and the API server do. The last of duplicate keys wins. The work
 * is proportional to the length of the text, plus a limited number of alias expansions.
 */
export function parseYaml(text: string): unknown {
  const json = readAsJson(text)
  return json === undefined ? readYaml(text).value : json.value
}

/**
 * Decodes YAML as the API server decodes a request body: converts it to JSON, then decodes that as {@link decodeJson}
 * does. When strict, all duplicate keys are reported in one message with their lines, as go-yaml does.
 */
export function decodeYaml(text: string, options: Pick<JsonReaderOptions, 'strict' | 'schema'> = {}): Decoded {
  const json = readAsJson(text, options.schema)
  if (json !== undefined) return json
  const { value, repeatedKeys } = readYaml(text)
  const repeated = options.strict ? repeatedKeys : []
  const errors =
    repeated.length === 0 ? [] : [`yaml: unmarshal errors:\n${repeated.map((key) => `  ${key}`).join('\n')}`]
  if (options.schema === undefined) return { value, strictErrors: errors }
  // Go converts the YAML to JSON with sorted fields, so unknown fields are reported in that order.
  const decoded = decodeJson(encodeJson(value, { sortKeys: true }), options)
  return { value: decoded.value, strictErrors: [...errors, ...decoded.strictErrors] }
}

/** A YAML document as JSON values, and the work it took. */
export interface YamlReading {
  readonly value: unknown
  readonly repeatedKeys: readonly string[]
  /** Characters read, tokens handled and nodes converted; tests bound it. */
  readonly steps: number
}

/** Reads the first document of a YAML text, without the shortcut for JSON. */
export function readYaml(text: string): YamlReading {
  const { root, steps } = parseYamlNodes(text)
  const values = new YamlValues()
  const value = root === undefined ? null : values.value(root)
  return { value, repeatedKeys: values.repeatedKeys, steps: steps + values.decoded }
}

// go-yaml, unlike JSON, has no escapes for surrogates and slashes, has more line breaks, refuses some characters, and wants the colon on
// the line of its key.
const differsFromJson = /\\u[dD][89a-fA-F]|\\\/|[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]|"[ \t]*[\r\n]\s*:/
const endOfKey = /"[ \t]*:/g
/** go-yaml wants the colon at most 1024 characters after the start of its key. */
const maxKeyDistance = 1000

/** Whether a key may be too long for go-yaml. Also true for some long strings that are not keys. */
function mayHaveLongKey(text: string): boolean {
  if (text.length <= maxKeyDistance) return false
  for (const { 0: end, index } of text.matchAll(endOfKey)) {
    if (index + end.length - text.lastIndexOf('"', index - 1) > maxKeyDistance) return true
  }
  return false
}

// Clients that declare YAML mostly send JSON, and decoding it as JSON is several times faster. Returns undefined when
// the text has a problem, because the YAML reader reports it with a different message.
function readAsJson(text: string, schema?: JsonReaderOptions['schema']): Decoded | undefined {
  if (!looksLikeJson(text) || differsFromJson.test(text) || mayHaveLongKey(text)) return undefined
  try {
    const decoded = decodeJson(text, { strict: true, schema })
    return decoded.strictErrors.length === 0 ? decoded : undefined
  } catch (error) {
    if (error instanceof ApiSyntaxError) return undefined
    throw error
  }
}
