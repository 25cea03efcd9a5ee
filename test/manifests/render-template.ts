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
  | {
      readonly kind: 'if' | 'with' | 'range'
      readonly code: string
      readonly body: readonly Node[]
      readonly otherwise: readonly Node[]
    }

/**
 * Renders the subset of Go templates that the charts use: if, else, with, range, fields, strings, and the functions and, or, not,
 * default, quote, toYaml and nindent. Throws for anything else.
 */
export function renderTemplate(text: string, scope: TemplateScope): string {
  const { nodes } = parse(tokens(text), 0)
  return nodes.map((node) => render(node, scope, scope)).join('')
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
    if (word !== 'if' && word !== 'with' && word !== 'range') {
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

function render(node: Node, dot: unknown, root: TemplateScope): string {
  if (node.kind === 'text') return node.text
  const value = evaluate(node.code, dot, root)
  if (node.kind === 'print') {
    if (value === undefined || value === null) throw new Error(`{{ ${node.code} }} is nothing`)
    return String(value)
  }
  const all = (nodes: readonly Node[], inner: unknown): string =>
    nodes.map((child) => render(child, inner, root)).join('')
  if (!isTruthy(value)) return all(node.otherwise, dot)
  if (node.kind === 'range') return (value as unknown[]).map((item) => all(node.body, item)).join('')
  return all(node.body, node.kind === 'with' ? value : dot)
}

function isTruthy(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0
  if (typeof value === 'object' && value !== null) return Object.keys(value).length > 0
  return Boolean(value)
}

function evaluate(code: string, dot: unknown, root: TemplateScope): unknown {
  const [first = '', ...filters] = code.split(' | ')
  let value = call(first, dot, root, [])
  for (const filter of filters) value = call(filter, dot, root, [value])
  return value
}

function call(code: string, dot: unknown, root: TemplateScope, piped: readonly unknown[]): unknown {
  const words = code.match(/"[^"]*"|\([^)]*\)|[^\s()]+/g) ?? []
  const [name = '', ...rest] = words
  const args = [...rest.map((word) => operand(word, dot, root)), ...piped]
  switch (name) {
    case 'and':
      return args.reduce((a, b) => (isTruthy(a) ? b : a))
    case 'or':
      return args.reduce((a, b) => (isTruthy(a) ? a : b))
    case 'not':
      return !isTruthy(args[0])
    case 'default':
      return isTruthy(args[1]) ? args[1] : args[0]
    case 'quote':
      return JSON.stringify(String(args[0]))
    case 'toYaml':
      return encodeYaml(args[0]).trimEnd()
    case 'nindent':
      return `\n${String(args[1]).replaceAll(/^(?=.)/gm, ' '.repeat(Number(args[0])))}`
    default:
      if (args.length > 0) throw new Error(`{{ ${code} }}: there is no ${name} here`)
      return operand(name, dot, root)
  }
}

function operand(word: string, dot: unknown, root: TemplateScope): unknown {
  if (word.startsWith('"')) return JSON.parse(word)
  if (word.startsWith('(')) return evaluate(word.slice(1, -1), dot, root)
  if (/^\d+$/.test(word)) return Number(word)
  if (word === '.') return dot
  if (!word.startsWith('.')) throw new Error(`"${word}" is no value`)
  let value: unknown = dot
  for (const field of word.slice(1).split('.')) {
    if (typeof value !== 'object' || value === null) throw new Error(`nil pointer evaluating ${word}`)
    value = (value as Record<string, unknown>)[field]
  }
  return value
}
