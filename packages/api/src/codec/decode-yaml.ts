import { createRequire } from 'node:module'
import { append, goQuote } from '@kubewright/base'
import { goFloat } from '@kubewright/schema'
import type * as Yaml from 'yaml'
import type { Alias, Document, LineCounter, Node, YAMLMap } from 'yaml'
import { ApiSyntaxError } from '../api-syntax-error.ts'
import { setOwn } from '../own-property.ts'
import { type Decoded, decodeJson } from './decode-json.ts'
import { encodeJson } from './encode-json.ts'
import type { JsonReaderOptions } from './json-reader.ts'
import { looksLikeJson } from './looks-like-json.ts'
import { readPlainYaml } from './plain-yaml.ts'
import { isTooDeep } from './yaml-depth.ts'
import { goYamlMessage, missingKeyMessage } from './yaml-problem.ts'
import { type PlainScalar, resolvePlain } from './yaml-scalar.ts'

let loaded: typeof Yaml | undefined

/** Loads the YAML parser on first use: importing it takes longer than importing all of this package. */
function yaml(): typeof Yaml {
  return (loaded ??= createRequire(import.meta.url)('yaml') as typeof Yaml)
}

const forbiddenCharacter = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f\ufffe\uffff]/
const coreTag = 'tag:yaml.org,2002:'

/** Parses the first document of a YAML text as kubectl and the API server do. The last of duplicate keys wins. */
export function parseYaml(text: string): unknown {
  const simple = readAsJson(text) ?? readPlainYaml(text)
  return simple === undefined ? parseAnyYaml(text) : simple.value
}

/** Like {@link parseYaml}, but always uses the full parser. */
export function parseAnyYaml(text: string): unknown {
  return new YamlReader(text).read()
}

/**
 * Decodes YAML as the API server decodes a request body: converts it to JSON, then decodes that as {@link decodeJson}
 * does. When strict, all duplicate keys are reported in one message with their lines, as go-yaml does.
 */
export function decodeYaml(text: string, options: Pick<JsonReaderOptions, 'strict' | 'schema'> = {}): Decoded {
  const json = readAsJson(text, options.schema)
  if (json !== undefined) return json
  const reader = new YamlReader(text)
  const value = reader.read()
  const repeated = options.strict ? reader.repeatedKeys : []
  const errors =
    repeated.length === 0 ? [] : [`yaml: unmarshal errors:\n${repeated.map((key) => `  ${key}`).join('\n')}`]
  if (options.schema === undefined) return { value, strictErrors: errors }
  // Go converts the YAML to JSON with sorted fields, so unknown fields are reported in that order.
  const decoded = decodeJson(encodeJson(value, { sortKeys: true }), options)
  return { value: decoded.value, strictErrors: [...errors, ...decoded.strictErrors] }
}

// Clients that declare YAML mostly send JSON, and decoding it as JSON is about forty times faster. Returns undefined
// when the text has a problem, because the YAML reader reports it with a different message.
function readAsJson(text: string, schema?: JsonReaderOptions['schema']): Decoded | undefined {
  if (!looksLikeJson(text)) return undefined
  try {
    const decoded = decodeJson(text, { strict: true, schema })
    return decoded.strictErrors.length === 0 ? decoded : undefined
  } catch (error) {
    if (error instanceof ApiSyntaxError) return undefined
    throw error
  }
}

class YamlReader {
  readonly #source: string
  readonly #lines: LineCounter = new (yaml().LineCounter)()
  readonly #document: Document
  /** `line 8: key "k" already set in map`, in document order. */
  readonly repeatedKeys: string[] = []
  // As in go-yaml: a document that consists mostly of alias expansions is rejected, since it could grow without bound.
  #decoded = 0
  #fromAliases = 0
  #aliasDepth = 0
  readonly #openAliases = new Set<Node>()

  constructor(source: string) {
    this.#source = source.startsWith('\ufeff') ? source.slice(1) : source
    // Go's reader stops at a depth of 10000. This one stops earlier (see maxYamlDepth) with the same message.
    if (isTooDeep(this.#source, () => new (yaml().Lexer)()))
      throw new ApiSyntaxError('yaml: exceeded max depth of 10000')
    if (forbiddenCharacter.test(this.#source)) throw new ApiSyntaxError('yaml: control characters are not allowed')
    this.#document = yaml().parseDocument(this.#source, {
      schema: 'failsafe',
      uniqueKeys: false,
      lineCounter: this.#lines,
      logLevel: 'silent',
    })
    // Later documents are ignored, including their errors.
    const error = this.#document.errors.find(({ code }) => code !== 'MULTIPLE_DOCS')
    if (error !== undefined) throw new ApiSyntaxError(goYamlMessage(error, this.#source))
  }

  read(): unknown {
    const { contents } = this.#document
    return contents === null ? null : this.#value(contents)
  }

  #value(node: unknown): unknown {
    this.#count()
    if (yaml().isScalar(node)) return jsonScalar(scalarValue(node))
    if (yaml().isSeq(node)) return node.items.map((item) => this.#value(item))
    if (yaml().isMap(node)) return this.#map(node)
    if (yaml().isAlias(node)) return this.#alias(node, (target) => this.#value(target))
    return null
  }

  #map(map: YAMLMap): Record<string, unknown> {
    const object: Record<string, unknown> = {}
    const seen = new Set<PlainScalar>()
    const merged: Record<string, unknown>[] = []
    for (const { key, value } of map.items) {
      if (yaml().isScalar(key) && key.type === 'PLAIN' && key.value === '<<') {
        append(merged, this.#merge(value))
        continue
      }
      const resolved = this.#key(key)
      if (seen.has(resolved)) {
        const line = this.#lineOf(value) ?? this.#lineOf(key)
        this.repeatedKeys.push(`line ${line}: key ${goSyntax(resolved)} already set in map`)
      }
      seen.add(resolved)
      const converted = this.#value(value)
      setOwn(object, keyText(resolved, converted), converted)
    }
    for (const source of merged) {
      for (const [key, value] of Object.entries(source)) if (!Object.hasOwn(object, key)) setOwn(object, key, value)
    }
    return object
  }

  #key(node: unknown): PlainScalar {
    if (yaml().isAlias(node)) return this.#alias(node, (target) => this.#key(target))
    if (!yaml().isScalar(node)) throw new ApiSyntaxError(`yaml: invalid map key: ${goSyntax(this.#value(node))}`)
    if (node.source === '' && node.type === 'PLAIN' && node.tag === undefined) {
      throw new ApiSyntaxError(missingKeyMessage(this.#source, node.range?.[0] ?? 0))
    }
    return scalarValue(node)
  }

  #merge(node: unknown): Record<string, unknown>[] {
    const target = yaml().isAlias(node) ? this.#resolve(node) : node
    if (yaml().isMap(target)) return [this.#value(node) as Record<string, unknown>]
    // go-yaml merges a sequence of maps from last to first, and the first value set wins.
    if (yaml().isSeq(target)) return target.items.flatMap((item) => this.#merge(item))
    throw new ApiSyntaxError('yaml: map merge requires map or sequence of maps as the value')
  }

  #resolve(alias: Alias): Node {
    const target = alias.resolve(this.#document)
    if (target === undefined) throw new ApiSyntaxError(`yaml: unknown anchor '${alias.source}' referenced`)
    return target
  }

  #alias<T>(alias: Alias, read: (target: Node) => T): T {
    const target = this.#resolve(alias)
    if (this.#openAliases.has(target)) {
      throw new ApiSyntaxError(`yaml: anchor '${alias.source}' value contains itself`)
    }
    this.#openAliases.add(target)
    this.#aliasDepth++
    const value = read(target)
    this.#aliasDepth--
    this.#openAliases.delete(target)
    return value
  }

  #count(): void {
    this.#decoded++
    if (this.#aliasDepth > 0) this.#fromAliases++
    if (this.#fromAliases <= 100 || this.#decoded <= 1000) return
    if (this.#fromAliases / this.#decoded > allowedAliasShare(this.#decoded)) {
      throw new ApiSyntaxError('yaml: document contains excessive aliasing')
    }
  }

  #lineOf(node: unknown): number | undefined {
    const range =
      yaml().isScalar(node) || yaml().isMap(node) || yaml().isSeq(node) || yaml().isAlias(node) ? node.range : undefined
    return range ? this.#lines.linePos(range[0]).line : undefined
  }
}

// The share of alias expansions that is accepted; it shrinks as the document grows (decode.go in go-yaml).
function allowedAliasShare(decoded: number): number {
  if (decoded <= 400_000) return 0.99
  if (decoded >= 4_000_000) return 0.1
  return 0.99 - (0.89 * (decoded - 400_000)) / 3_600_000
}

function scalarValue(node: { value: unknown; type?: string | undefined; tag?: string | undefined }): PlainScalar {
  const text = String(node.value ?? '')
  const tag = node.tag?.startsWith(coreTag) ? node.tag.slice(coreTag.length) : undefined
  if (tag === 'str' || tag === 'binary') return text
  if (tag === undefined) return node.type === 'PLAIN' ? resolvePlain(text) : text
  const value = resolvePlain(text)
  const fits =
    (tag === 'null' && value === null) ||
    (tag === 'bool' && typeof value === 'boolean') ||
    ((tag === 'int' || tag === 'float') && (typeof value === 'number' || typeof value === 'bigint'))
  if (fits || tag === 'timestamp') return fits ? value : text
  throw new ApiSyntaxError(`yaml: cannot decode !!str \`${text}\` as a !!${tag}`)
}

function jsonScalar(value: PlainScalar): PlainScalar {
  if (typeof value === 'number' && !Number.isFinite(value)) {
    throw new ApiSyntaxError(`json: unsupported value: ${goFloat(value)}`)
  }
  return value
}

function keyText(key: PlainScalar, value: unknown): string {
  if (key === null) {
    throw new ApiSyntaxError(`unsupported map key of type: %!s(<nil>), key: <nil>, value: ${goSyntax(value)}`)
  }
  return typeof key === 'number' && !Number.isInteger(key) ? goFloat(key) : String(key)
}

// Prints a decoded value as Go's %#v does.
function goSyntax(value: unknown): string {
  if (typeof value === 'string') return goQuote(value)
  if (typeof value !== 'object' || value === null) return String(value ?? '<nil>')
  const inner = (item: unknown): string => (item === null ? 'interface {}(nil)' : goSyntax(item))
  if (Array.isArray(value)) return `[]interface {}{${value.map(inner).join(', ')}}`
  const fields = Object.entries(value).map(([key, item]) => `${goQuote(key)}:${inner(item)}`)
  return `map[interface {}]interface {}{${fields.join(', ')}}`
}
