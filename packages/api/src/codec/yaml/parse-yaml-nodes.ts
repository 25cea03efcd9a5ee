import { defineBudget } from '@kubewright/base'
import type { MappingNode, ScalarNode, SequenceNode, YamlNode } from './yaml-node.ts'
import { type Token, type TokenType, YamlScanner } from './yaml-scanner.ts'
import { yamlError } from './yaml-text.ts'

/** The maximum nesting depth of a YAML document. go-yaml's is 10000, which a recursive reader cannot reach. */
export const maxYamlDepth: number = defineBudget(1000, {
  group: 'server',
  what: 'nesting depth of YAML, with aliases expanded',
  option: 'less: `limits.body.depth`, `up --max-body-depth`',
  answer: '400',
  kubernetes: '10,000',
})

/** The maximum number of keys, items and values of a YAML document. go-yaml has no limit. */
export const maxYamlNodes: number = defineBudget(150_000, {
  group: 'server',
  what: 'keys, items and values of a YAML document, keys counted apart',
  answer: '400',
  kubernetes: 'no limit',
})

/** The first document of a YAML text. */
export interface YamlDocument {
  /** Undefined if the text contains no document. */
  readonly root: YamlNode | undefined
  /** The work that reading took; proportional to the length of the text. */
  readonly steps: number
}

/**
 * Parses the first document of a YAML text as go-yaml v2 does (parserc.go): the same documents are accepted, and errors
 * have the same texts and lines. Later documents are not read.
 */
export function parseYamlNodes(source: string): YamlDocument {
  const scanner = new YamlScanner(source)
  const root = new YamlParser(scanner).document()
  return { root, steps: scanner.steps }
}

/** The error for a document, or an alias within it, that is nested too deeply; the number is go-yaml's. */
export function tooDeep(line: number): Error {
  return yamlError('exceeded max depth of 10000', line === 0 ? 0 : line + 1)
}

// The tokens that can follow a place for an optional node without starting one.
const afterKey: readonly TokenType[] = ['key', 'value', 'end']
const afterItem: readonly TokenType[] = ['-', 'end']
const afterIndentlessItem: readonly TokenType[] = ['-', 'key', 'value', 'end']
const afterFlowKey: readonly TokenType[] = ['value', ',', '}']
const afterFlowValue: readonly TokenType[] = [',', '}']
const afterPairKey: readonly TokenType[] = ['value', ',', ']']
const afterPairValue: readonly TokenType[] = [',', ']']
const betweenDocuments: readonly TokenType[] = ['version', 'tag directive', '---', '...', 'stream end']

const defaultHandles: readonly (readonly [string, string])[] = [
  ['!', '!'],
  ['!!', 'tag:yaml.org,2002:'],
]

interface Properties {
  readonly line: number
  readonly anchor: string | undefined
  readonly tag: string
}

class YamlParser {
  readonly #tokens: YamlScanner
  readonly #anchors = new Map<string, YamlNode>()
  readonly #handles = new Map<string, string>()
  #depth = 0
  #nodes = 0

  constructor(tokens: YamlScanner) {
    this.#tokens = tokens
  }

  document(): YamlNode | undefined {
    const first = this.#tokens.peek().type
    if (first === 'stream end') return undefined
    const explicit = first === 'version' || first === 'tag directive' || first === '---'
    this.#directives()
    if (explicit) {
      const token = this.#tokens.peek()
      if (token.type !== '---') throw parserError('did not find expected <document start>', token)
      this.#tokens.take()
    }
    const root = explicit ? this.#optional(betweenDocuments, false, this.#tokens.peek().line) : this.#node(true, false)
    // go-yaml ignores the text after the root node, but its scanner reads one more token.
    this.#tokens.peek()
    return root
  }

  #directives(): void {
    let version = false
    for (let token = this.#tokens.peek(); ; token = this.#tokens.peek()) {
      if (token.type === 'version') {
        if (version) throw parserError('found duplicate %YAML directive', token)
        if (token.text !== '1.1') throw parserError('found incompatible YAML document', token)
        version = true
      } else if (token.type === 'tag directive') {
        if (this.#handles.has(token.text)) throw parserError('found duplicate %TAG directive', token)
        this.#handles.set(token.text, token.suffix)
      } else break
      this.#tokens.take()
    }
    for (const [handle, prefix] of defaultHandles) if (!this.#handles.has(handle)) this.#handles.set(handle, prefix)
  }

  #node(block: boolean, indentless: boolean): YamlNode {
    const first = this.#tokens.peek()
    if (++this.#nodes > maxYamlNodes)
      throw yamlError(`the document has more than ${maxYamlNodes} keys, items and values`)
    if (first.type === 'alias') {
      this.#tokens.take()
      const target = this.#anchors.get(first.text)
      if (target === undefined) throw yamlError(`unknown anchor '${first.text}' referenced`)
      return { kind: 'alias', line: first.line, name: first.text, target }
    }
    const properties = this.#properties()
    const token = this.#tokens.peek()
    if (token.type === 'scalar') {
      this.#tokens.take()
      return this.#scalar(token, properties)
    }
    if (++this.#depth > maxYamlDepth) throw tooDeep(token.line)
    const node = this.#collection(token, block, indentless, properties)
    this.#depth--
    if (node !== undefined) return node
    const { line, tag, anchor } = properties
    if (anchor === undefined && tag === '') throw parserError('did not find expected node content', token)
    return this.#anchored(anchor, { kind: 'scalar', line, text: '', tag, implicit: tag === '' })
  }

  #collection(
    { type }: Token,
    block: boolean,
    indentless: boolean,
    { line, anchor }: Properties,
  ): YamlNode | undefined {
    const isList = type === '[' || (block && type === 'sequence') || (indentless && type === '-')
    if (isList) {
      const list: SequenceNode = this.#anchored(anchor, { kind: 'sequence', line, items: [] })
      if (type === '-') this.#indentlessItems(list.items)
      else if (type === '[') this.#flowItems(list.items)
      else this.#blockItems(list.items)
      return list
    }
    if (type !== '{' && !(block && type === 'mapping')) return undefined
    const map: MappingNode = this.#anchored(anchor, { kind: 'mapping', line, entries: [] })
    if (type === '{') this.#flowEntries(map.entries)
    else this.#blockEntries(map.entries)
    return map
  }

  #properties(): Properties {
    const { line } = this.#tokens.peek()
    let anchor: string | undefined
    let tag: Token | undefined
    for (let token = this.#tokens.peek(); ; token = this.#tokens.peek()) {
      if (token.type === 'anchor' && anchor === undefined) anchor = token.text
      else if (token.type === 'tag' && tag === undefined) tag = token
      else break
      this.#tokens.take()
    }
    return { line, anchor, tag: tag === undefined ? '' : this.#tagName(tag) }
  }

  #tagName(token: Token): string {
    if (token.text === '') return token.suffix
    const prefix = this.#handles.get(token.text)
    if (prefix === undefined) throw parserError('found undefined tag handle', token)
    return prefix + token.suffix
  }

  #scalar({ text, plain }: Token, { line, anchor, tag }: Properties): ScalarNode {
    const implicit = (plain && tag === '') || tag === '!'
    return this.#anchored(anchor, { kind: 'scalar', line, text, tag, implicit })
  }

  // A collection is registered before its content is read, so that an alias within it finds it.
  #anchored<T extends YamlNode>(anchor: string | undefined, node: T): T {
    if (anchor !== undefined) this.#anchors.set(anchor, node)
    return node
  }

  /** A node, or an empty scalar if the next token is one of these. */
  #optional(without: readonly TokenType[], indentless: boolean, line: number): YamlNode {
    return without.includes(this.#tokens.peek().type) ? empty(line) : this.#node(true, indentless)
  }

  #optionalInFlow(without: readonly TokenType[], line: number): YamlNode {
    return without.includes(this.#tokens.peek().type) ? empty(line) : this.#node(false, false)
  }

  #blockItems(items: YamlNode[]): void {
    this.#tokens.take()
    for (let token = this.#tokens.take(); token.type !== 'end'; token = this.#tokens.take()) {
      if (token.type !== '-') throw parserError("did not find expected '-' indicator", token)
      items.push(this.#optional(afterItem, false, token.line))
    }
  }

  /** A sequence with the indentation of the key before it; no `end` follows. */
  #indentlessItems(items: YamlNode[]): void {
    while (this.#tokens.peek().type === '-') {
      const { line } = this.#tokens.take()
      items.push(this.#optional(afterIndentlessItem, false, line))
    }
  }

  #blockEntries(entries: YamlNode[]): void {
    this.#tokens.take()
    for (let token = this.#tokens.take(); token.type !== 'end'; token = this.#tokens.take()) {
      if (token.type !== 'key') throw parserError('did not find expected key', token)
      entries.push(this.#optional(afterKey, true, token.line))
      const next = this.#tokens.peek()
      if (next.type === 'value') {
        this.#tokens.take()
        entries.push(this.#optional(afterKey, true, next.line))
      } else entries.push(empty(next.line))
    }
  }

  #flowItems(items: YamlNode[]): void {
    this.#tokens.take()
    for (let first = true; this.#tokens.peek().type !== ']'; first = false) {
      if (!first) this.#comma("did not find expected ',' or ']'")
      const token = this.#tokens.peek()
      if (token.type === 'key') items.push(this.#pair())
      else if (token.type !== ']') items.push(this.#node(false, false))
    }
    this.#tokens.take()
  }

  /** An entry `a: b` of a flow sequence. */
  #pair(): MappingNode {
    const { line } = this.#tokens.take()
    if (++this.#depth > maxYamlDepth) throw tooDeep(line)
    const entries: YamlNode[] = []
    const next = this.#tokens.peek()
    if (afterPairKey.includes(next.type)) {
      // go-yaml drops this token, whatever it is.
      this.#tokens.take()
      entries.push(empty(next.line))
    } else entries.push(this.#node(false, false))
    entries.push(this.#flowValue(afterPairValue))
    this.#depth--
    return { kind: 'mapping', line, entries }
  }

  #flowEntries(entries: YamlNode[]): void {
    this.#tokens.take()
    for (let first = true; this.#tokens.peek().type !== '}'; first = false) {
      if (!first) this.#comma("did not find expected ',' or '}'")
      const token = this.#tokens.peek()
      if (token.type === 'key') {
        this.#tokens.take()
        entries.push(this.#optionalInFlow(afterFlowKey, token.line), this.#flowValue(afterFlowValue))
      } else if (token.type !== '}') {
        entries.push(this.#node(false, false))
        entries.push(empty(this.#tokens.peek().line))
      }
    }
    this.#tokens.take()
  }

  #flowValue(without: readonly TokenType[]): YamlNode {
    const token = this.#tokens.peek()
    if (token.type !== 'value') return empty(token.line)
    this.#tokens.take()
    return this.#optionalInFlow(without, token.line)
  }

  #comma(problem: string): void {
    const token = this.#tokens.peek()
    if (token.type !== ',') throw parserError(problem, token)
    this.#tokens.take()
  }
}

function empty(line: number): ScalarNode {
  return { kind: 'scalar', line, text: '', tag: '', implicit: true }
}

/** An error of go-yaml's parser, which counts lines from zero, unlike the scanner. */
function parserError(problem: string, token: Token): Error {
  return yamlError(problem, token.line)
}
