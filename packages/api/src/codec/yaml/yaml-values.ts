import { defineBudget, goQuote } from '@kubewright/base'
import { goFloat } from '@kubewright/schema'
import { ApiSyntaxError } from '../../api-syntax-error.ts'
import { setOwn } from '../../own-property.ts'
import { isTimestamp, type PlainScalar, resolvePlain } from '../yaml-scalar.ts'
import { maxYamlDepth, tooDeep } from './parse-yaml-nodes.ts'
import type { AliasNode, MappingNode, ScalarNode, YamlNode } from './yaml-node.ts'
import { yamlError } from './yaml-text.ts'

/**
 * The maximum number of characters of scalars that aliases may add to a document. go-yaml limits only the number of
 * nodes, so aliases of one long text could fill the memory.
 */
export const maxAliasedCharacters: number = defineBudget(4 * 1024 * 1024, {
  group: 'server',
  what: 'characters of scalars that aliases add to a YAML document',
  answer: '400',
  kubernetes: 'no limit',
})

/** The maximum number of duplicate keys that are reported for a document; go-yaml reports all. */
export const maxRepeatedKeys: number = defineBudget(1000, {
  group: 'server',
  what: 'duplicate keys of a YAML document that are reported',
  answer: 'further ones are left out',
  kubernetes: 'no limit',
})

const coreTag = 'tag:yaml.org,2002:'

/** Converts the nodes of a document to JSON values as go-yaml v2 and sigs.k8s.io/yaml do (decode.go). */
export class YamlValues {
  /** `line 8: key "k" already set in map`, in document order; at most {@link maxRepeatedKeys}. */
  readonly repeatedKeys: string[] = []
  /** The number of nodes converted, with each expansion of an alias. */
  decoded = 0
  #fromAliases = 0
  #aliasDepth = 0
  #aliasedCharacters = 0
  #depth = 0
  readonly #openAliases = new Set<AliasNode>()

  value(node: YamlNode): unknown {
    this.#count()
    if (node.kind === 'scalar') return jsonScalar(this.#scalar(node))
    if (node.kind === 'alias') return this.#alias(node, (target) => this.value(target))
    // Aliases within aliases can nest deeper than the text.
    if (++this.#depth > maxYamlDepth) throw tooDeep(node.line)
    const value = node.kind === 'sequence' ? node.items.map((item) => this.value(item)) : this.#map(node)
    this.#depth--
    return value
  }

  #map(node: MappingNode): Record<string, unknown> {
    const object: Record<string, unknown> = {}
    this.#fill(object, new Set(), node)
    return object
  }

  /** The last of several equal keys wins, merged ones included. */
  #fill(object: Record<string, unknown>, seen: Set<PlainScalar>, { entries }: MappingNode): void {
    for (let i = 0; i < entries.length; i += 2) {
      const key = entries[i]!
      const value = entries[i + 1]!
      if (key.kind === 'scalar' && key.text === '<<' && (key.implicit || key.tag === `${coreTag}merge`)) {
        this.#merge(object, seen, value)
        continue
      }
      const resolved = this.#key(key)
      const converted = this.value(value)
      if (seen.has(resolved) && this.repeatedKeys.length < maxRepeatedKeys) {
        this.repeatedKeys.push(`line ${value.line + 1}: key ${goSyntax(resolved)} already set in map`)
      }
      seen.add(resolved)
      setOwn(object, keyText(resolved, converted), converted)
    }
  }

  #key(node: YamlNode): PlainScalar {
    if (node.kind === 'mapping' || node.kind === 'sequence') {
      throw yamlError(`invalid map key: ${goSyntax(this.value(node))}`)
    }
    this.#count()
    return node.kind === 'alias' ? this.#alias(node, (target) => this.#key(target)) : this.#scalar(node)
  }

  #merge(object: Record<string, unknown>, seen: Set<PlainScalar>, node: YamlNode): void {
    // The first map of a sequence takes precedence.
    const sources = node.kind === 'sequence' ? node.items.toReversed() : [node]
    for (const source of sources) this.#mergeOne(object, seen, source)
  }

  #mergeOne(object: Record<string, unknown>, seen: Set<PlainScalar>, node: YamlNode): void {
    const isMap = node.kind === 'mapping' || (node.kind === 'alias' && node.target.kind === 'mapping')
    if (!isMap) throw yamlError('map merge requires map or sequence of maps as the value')
    this.#count()
    if (++this.#depth > maxYamlDepth) throw tooDeep(node.line)
    if (node.kind === 'mapping') this.#fill(object, seen, node)
    else {
      this.#alias(node, (target) => {
        this.#count()
        this.#fill(object, seen, target as MappingNode)
      })
    }
    this.#depth--
  }

  #alias<T>(alias: AliasNode, read: (target: YamlNode) => T): T {
    if (this.#openAliases.has(alias)) throw yamlError(`anchor '${alias.name}' value contains itself`)
    this.#openAliases.add(alias)
    this.#aliasDepth++
    const value = read(alias.target)
    this.#aliasDepth--
    this.#openAliases.delete(alias)
    return value
  }

  #scalar(node: ScalarNode): PlainScalar {
    if (this.#aliasDepth > 0) {
      this.#aliasedCharacters += node.text.length
      if (this.#aliasedCharacters > maxAliasedCharacters) throw excessiveAliasing()
    }
    return scalarValue(node)
  }

  // As in go-yaml: a document that consists mostly of alias expansions is rejected.
  #count(): void {
    this.decoded++
    if (this.#aliasDepth > 0) this.#fromAliases++
    if (this.#fromAliases <= 100 || this.decoded <= 1000) return
    if (this.#fromAliases / this.decoded > allowedAliasShare(this.decoded)) throw excessiveAliasing()
  }
}

function excessiveAliasing(): Error {
  return yamlError('document contains excessive aliasing')
}

// The share of alias expansions that is accepted; it shrinks as the document grows (decode.go in go-yaml).
function allowedAliasShare(decoded: number): number {
  if (decoded <= 400_000) return 0.99
  if (decoded >= 4_000_000) return 0.1
  return 0.99 - (0.89 * (decoded - 400_000)) / 3_600_000
}

function scalarValue({ text, tag, implicit }: ScalarNode): PlainScalar {
  if (tag === '') return implicit ? resolvePlain(text) : text
  const name = tag.startsWith(coreTag) ? tag.slice(coreTag.length) : ''
  if (name === 'binary') return binaryText(text)
  if (!resolvable.has(name)) return text
  if (name === 'timestamp' && isTimestamp(text)) return text
  const value = resolvePlain(text)
  const found = typeName(value)
  if (found === name || (name === 'float' && found === 'int')) return value
  throw yamlError(`cannot decode !!${found} \`${text}\` as a !!${name}`)
}

// Any text is accepted for the other tags.
const resolvable = new Set(['bool', 'int', 'float', 'null', 'timestamp'])

function typeName(value: PlainScalar): string {
  if (value === null) return 'null'
  if (typeof value === 'boolean') return 'bool'
  if (typeof value === 'string') return 'str'
  return typeof value === 'bigint' || Number.isInteger(value) ? 'int' : 'float'
}

function binaryText(text: string): string {
  try {
    return new TextDecoder().decode(Uint8Array.from(atob(text), (char) => char.charCodeAt(0)))
  } catch {
    throw yamlError('!!binary value contains invalid base64 data')
  }
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
