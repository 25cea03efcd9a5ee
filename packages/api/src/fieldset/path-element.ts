import { compareUtf8, goQuote, isJsonObject } from '@kubewright/base'

/** One step of a field path: a field of a map, or an item of a list selected by its keys, its value or its index. */
export type PathElement =
  | { readonly field: string }
  | { readonly key: Readonly<Record<string, unknown>> }
  | { readonly value: unknown }
  | { readonly index: number }

/**
 * A field path. Each step is in its canonical FieldsV1 spelling: `f:spec`, `k:{"name":"web"}`, `v:"x"`, `i:0`. Two
 * steps are equal exactly when their strings are equal.
 */
export type FieldSetPath = readonly string[]

// Kubernetes' encoder escapes these in values inside of elements, including HTML characters.
const unsafe = /["\\<>&\u0000-\u001f\u2028\u2029]/
const unsafeAll = /["\\<>&\u0000-\u001f\u2028\u2029]/g

function escapeCharacter(character: string): string {
  switch (character) {
    case '"':
      return '\\"'
    case '\\':
      return '\\\\'
    case '\n':
      return '\\n'
    case '\r':
      return '\\r'
    case '\t':
      return '\\t'
    default:
      return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  }
}

/** Encodes a JSON value in the canonical spelling of path elements: keys sorted, no spaces, HTML characters escaped. */
export function canonicalJson(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return unsafe.test(value) ? `"${value.replace(unsafeAll, escapeCharacter)}"` : `"${value}"`
    case 'number':
      return Object.is(value, -0) ? '-0' : String(value)
    case 'boolean':
    case 'bigint':
      return String(value)
    default: {
      if (value === null || value === undefined) return 'null'
      if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
      const keys = Object.keys(value).sort(compareUtf8)
      const record = value as Record<string, unknown>
      return `{${keys.map((key) => `${canonicalJson(key)}:${canonicalJson(record[key])}`).join(',')}}`
    }
  }
}

/** Encodes a path element in its canonical FieldsV1 spelling. */
export function serializePathElement(element: PathElement): string {
  if ('field' in element) return `f:${element.field}`
  if ('key' in element) return `k:${canonicalJson(element.key)}`
  if ('value' in element) return `v:${canonicalJson(element.value)}`
  return `i:${element.index}`
}

/** Builds a path. Strings are field names, numbers are indexes. */
export function fieldSetPath(...steps: readonly (string | number | PathElement)[]): FieldSetPath {
  return steps.map((step) => {
    if (typeof step === 'string') return `f:${step}`
    return typeof step === 'number' ? `i:${step}` : serializePathElement(step)
  })
}

// Elements repeat across objects (the same container names), so parsed ones are cached. The limit bounds memory against
// hostile input.
const parsed = new Map<string, PathElement | undefined>()
const parsedLimit = 8192

/**
 * Parses an element. Returns undefined for an unknown type, which callers skip. Throws a SyntaxError when the text is
 * malformed.
 */
export function parsePathElement(text: string): PathElement | undefined {
  if (text.startsWith('f:')) return { field: text.slice(2) }
  if (parsed.has(text)) return parsed.get(text)
  const element = readElement(text)
  if (parsed.size >= parsedLimit) parsed.clear()
  parsed.set(text, element)
  return element
}

function readElement(text: string): PathElement | undefined {
  if (text.length < 2) throw new SyntaxError('key must be 2 characters long:')
  if (text[1] !== ':') throw new SyntaxError(`missing colon: ${text}`)
  const body = text.slice(2)
  switch (text[0]) {
    case 'k': {
      const key: unknown = JSON.parse(body)
      if (!isJsonObject(key)) throw new SyntaxError(`expected an object in the path element ${text}`)
      return { key }
    }
    case 'v':
      return { value: JSON.parse(body) }
    case 'i':
      if (!/^[+-]?\d+$/.test(body)) throw new SyntaxError(`strconv.Atoi: parsing ${goQuote(body)}: invalid syntax`)
      return { index: Number(body) }
    default:
      return undefined
  }
}

const canonical = new Map<string, string | undefined>()

/** The canonical spelling of an element in any valid spelling; undefined for an unknown type. */
export function canonicalElement(text: string): string | undefined {
  if (text.startsWith('f:')) return text
  if (canonical.has(text)) return canonical.get(text)
  const element = parsePathElement(text)
  const spelled = element && serializePathElement(element)
  if (canonical.size >= parsedLimit) canonical.clear()
  canonical.set(text, spelled)
  return spelled
}

const order = 'fkvi'

/**
 * Compares canonical elements in Kubernetes' order: fields, keys, values, indexes; within each by content, numbers by
 * value.
 */
export function compareElements(a: string, b: string): number {
  const kind = a.charCodeAt(0)
  if (kind !== b.charCodeAt(0)) return order.indexOf(a[0] as string) - order.indexOf(b[0] as string)
  if (kind === 102 /* f */ || a === b) return compareUtf8(a, b)
  const left = parsePathElement(a) as { key: Record<string, unknown>; value: unknown; index: number }
  const right = parsePathElement(b) as typeof left
  if (kind === 107 /* k */) return compareKeys(left.key, right.key)
  return kind === 118 /* v */ ? compareValues(left.value, right.value) : left.index - right.index
}

function compareKeys(a: Readonly<Record<string, unknown>>, b: Readonly<Record<string, unknown>>): number {
  const left = Object.keys(a).sort(compareUtf8)
  const right = Object.keys(b).sort(compareUtf8)
  const length = Math.min(left.length, right.length)
  for (let i = 0; i < length; i++) {
    const name = left[i] as string
    const other = right[i] as string
    const result = compareUtf8(name, other) || compareValues(a[name], b[other])
    if (result !== 0) return result
  }
  return left.length - right.length
}

function rank(value: unknown): number {
  switch (typeof value) {
    case 'number':
    case 'bigint':
      return 0
    case 'string':
      return 1
    case 'boolean':
      return 2
    default:
      return Array.isArray(value) ? 3 : value === null || value === undefined ? 5 : 4
  }
}

function compareValues(a: unknown, b: unknown): number {
  const kind = rank(a)
  if (kind !== rank(b)) return kind - rank(b)
  switch (kind) {
    case 0:
      return (a as number) < (b as number) ? -1 : (a as number) > (b as number) ? 1 : 0
    case 1:
      return compareUtf8(a as string, b as string)
    case 2:
      return Number(a) - Number(b)
    case 3: {
      const left = a as unknown[]
      const right = b as unknown[]
      for (let i = 0; i < Math.min(left.length, right.length); i++) {
        const result = compareValues(left[i], right[i])
        if (result !== 0) return result
      }
      return left.length - right.length
    }
    case 4:
      return compareKeys(a as Record<string, unknown>, b as Record<string, unknown>)
    default:
      return 0
  }
}

function formatValue(value: unknown): string {
  if (typeof value === 'string') return goQuote(value)
  if (Array.isArray(value)) return `[${value.map(formatValue).join(',')}]`
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value)
      .map(([name, item]) => `${name}=${formatValue(item)}`)
      .join('')
  }
  return String(value)
}

/** Formats an element as in conflict messages: `.spec`, `[name="web"]`, `[="x"]`, `[0]`. */
export function formatElement(element: string): string {
  const read = parsePathElement(element)
  if (read === undefined) return '{{invalid path element}}'
  if ('field' in read) return `.${read.field}`
  if ('value' in read) return `[=${formatValue(read.value)}]`
  if ('index' in read) return `[${read.index}]`
  const names = Object.keys(read.key).sort(compareUtf8)
  return `[${names.map((name) => `${name}=${formatValue(read.key[name])}`).join(',')}]`
}

/** Formats a path as in conflict messages: `.spec.containers[name="web"].image`. */
export function formatFieldSetPath(path: FieldSetPath): string {
  let out = ''
  for (const element of path) out += formatElement(element)
  return out
}
