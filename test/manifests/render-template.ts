import { encodeYaml } from '@kubewright/api'

/** The data of a template. */
export interface TemplateScope {
  readonly Values: unknown
  readonly Release: Readonly<Record<string, string>>
  readonly Chart: Readonly<Record<string, string>>
}

type Node =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'print'; readonly code: string }
  | { readonly kind: 'set'; readonly name: string; readonly code: string }
  | {
      readonly kind: 'if' | 'with' | 'range' | 'define'
      readonly code: string
      readonly body: readonly Node[]
      readonly otherwise: readonly Node[]
    }

/**
 * Renders the subset of Go templates that the charts use: if, else, with, range, define, variables, fields, strings, and the functions that
 * {@link Renderer} lists. Throws for anything else.
 */
export function renderTemplate(text: string, scope: TemplateScope, helpers = ''): string {
  const renderer = new Renderer(scope)
  renderer.text(parse(tokens(helpers), 0).nodes, scope)
  return renderer.text(parse(tokens(text), 0).nodes, scope)
}

function tokens(text: string): string[] {
  // A dash trims the white space on its side.
  return text
    .replaceAll(/\s*\{\{-\s/g, '{{ ')
    .replaceAll(/\s-\}\}\s*/g, ' }}')
    .split(/(\{\{(?:[^}"]|"[^"]*"|\}(?!\}))*\}\})/)
}

function parse(parts: readonly string[], from: number): { nodes: Node[]; at: number; end: string } {
  const nodes: Node[] = []
  for (let at = from; at < parts.length; at++) {
    const part = parts[at]!
    if (!part.startsWith('{{')) {
      nodes.push({ kind: 'text', text: part })
      continue
    }
    const code = part.slice(2, -2).trim()
    if (code.startsWith('/*')) continue
    const [word = '', ...rest] = code.split(' ')
    if (word === 'end' || word === 'else') return { nodes, at, end: word }
    const variable = /^\$(\w+) :?= (.*)$/.exec(code)
    if (variable) {
      nodes.push({ kind: 'set', name: variable[1]!, code: variable[2]! })
      continue
    }
    if (word !== 'if' && word !== 'with' && word !== 'range' && word !== 'define') {
      nodes.push({ kind: 'print', code })
      continue
    }
    const body = parse(parts, at + 1)
    const otherwise = body.end === 'else' ? parse(parts, body.at + 1) : { nodes: [], at: body.at, end: body.end }
    if (otherwise.end !== 'end') throw new Error(`{{ ${code} }} has no end`)
    nodes.push({ kind: word, code: rest.join(' '), body: body.nodes, otherwise: otherwise.nodes })
    at = otherwise.at
  }
  return { nodes, at: parts.length, end: '' }
}

function isTruthy(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0
  if (typeof value === 'object' && value !== null) return Object.keys(value).length > 0
  return Boolean(value)
}

class Renderer {
  readonly #root: TemplateScope
  readonly #defined = new Map<string, readonly Node[]>()
  readonly #variables = new Map<string, unknown>()

  constructor(root: TemplateScope) {
    this.#root = root
  }

  text(nodes: readonly Node[], dot: unknown): string {
    return nodes.map((node) => this.#render(node, dot)).join('')
  }

  #render(node: Node, dot: unknown): string {
    if (node.kind === 'text') return node.text
    if (node.kind === 'define') {
      this.#defined.set(JSON.parse(node.code) as string, node.body)
      return ''
    }
    const value = this.#evaluate(node.code, dot)
    if (node.kind === 'set') {
      this.#variables.set(node.name, value)
      return ''
    }
    if (node.kind === 'print') {
      if (value === undefined || value === null) throw new Error(`{{ ${node.code} }} is nothing`)
      return String(value)
    }
    if (!isTruthy(value)) return this.text(node.otherwise, dot)
    if (node.kind === 'range') return (value as unknown[]).map((item) => this.text(node.body, item)).join('')
    return this.text(node.body, node.kind === 'with' ? value : dot)
  }

  #evaluate(code: string, dot: unknown): unknown {
    const [first = [], ...filters] = pipeline(code)
    let value = this.#call(first, dot, [])
    for (const filter of filters) value = this.#call(filter, dot, [value])
    return value
  }

  #call([name = '', ...words]: readonly string[], dot: unknown, piped: readonly unknown[]): unknown {
    const args = [...words.map((word) => this.#operand(word, dot)), ...piped]
    switch (name) {
      case 'and':
        return args.reduce((a, b) => (isTruthy(a) ? b : a))
      case 'or':
        return args.reduce((a, b) => (isTruthy(a) ? a : b))
      case 'not':
        return !isTruthy(args[0])
      case 'eq':
        return args[0] === args[1]
      case 'ne':
        return args[0] !== args[1]
      case 'default':
        return isTruthy(args[1]) ? args[1] : args[0]
      case 'quote':
        return JSON.stringify(String(args[0]))
      case 'toYaml':
        return encodeYaml(args[0]).trimEnd()
      case 'nindent':
        return `\n${String(args[1]).replaceAll(/^(?=.)/gm, ' '.repeat(Number(args[0])))}`
      case 'list':
        return args
      case 'append':
        return [...(args[0] as unknown[]), args[1]]
      case 'has':
        return (args[1] as unknown[]).includes(args[0])
      case 'omit':
        return Object.fromEntries(Object.entries(args[0] as object).filter(([key]) => !args.includes(key)))
      case 'include': {
        const body = this.#defined.get(String(args[0]))
        if (body === undefined) throw new Error(`no template ${String(args[0])}`)
        return this.text(body, args[1])
      }
      default:
        if (args.length > 0) throw new Error(`{{ ${name} ${words.join(' ')} }}: there is no ${name} here`)
        return this.#operand(name, dot)
    }
  }

  #operand(word: string, dot: unknown): unknown {
    if (word.startsWith('"')) return JSON.parse(word)
    if (word.startsWith('(')) return this.#evaluate(word.slice(1, -1), dot)
    if (/^\d+$/.test(word)) return Number(word)
    if (word === '.') return dot
    if (word === 'list') return []
    const variable = /^\$(\w+)$/.exec(word)
    if (variable) return this.#variables.get(variable[1]!)
    const isRooted = word.startsWith('$.')
    if (!isRooted && !word.startsWith('.')) throw new Error(`"${word}" is no value`)
    let value: unknown = isRooted ? this.#root : dot
    for (const field of word.replace(/^\$?\./, '').split('.')) {
      if (typeof value !== 'object' || value === null) throw new Error(`nil pointer evaluating ${word}`)
      value = (value as Record<string, unknown>)[field]
    }
    return value
  }
}

/** The words of each command of a pipeline. A group in parentheses is one word. */
function pipeline(code: string): string[][] {
  const commands: string[][] = [[]]
  for (const [word] of code.matchAll(/"[^"]*"|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)|[^\s()]+/g)) {
    if (word === '|') commands.push([])
    else commands.at(-1)!.push(word)
  }
  return commands
}
