import { encodeYaml } from '@kubewright/api'
import { deepEqual, isJsonObject } from '@kubewright/base'

/** A condition on the values of a chart, as expressions of a template. */
export interface ValueCondition {
  /** True if the condition holds. */
  readonly is: string
  /** True if the condition does not hold. */
  readonly not: string
}

/** The value of a field under a condition. */
export interface VariantValue {
  readonly condition: ValueCondition
  /** Undefined if the field is missing. */
  readonly value: unknown
}

/** A YAML value with template expressions. */
export type TemplateNode =
  /** A value without expressions. */
  | { readonly type: 'plain'; readonly value: unknown }
  /** An expression that renders a scalar. */
  | { readonly type: 'code'; readonly text: string }
  /** An expression that renders a value over several lines. `$indent` stands for the width of its indentation. */
  | { readonly type: 'block'; readonly text: string }
  | {
      readonly type: 'choice'
      readonly condition: string
      readonly ifTrue: TemplateNode
      readonly ifFalse: TemplateNode
    }
  | MapNode
  | ListNode

/** A map whose fields can depend on conditions. */
export interface MapNode {
  readonly type: 'map'
  readonly fields: Map<string, TemplateField>
  /** Lines at the end of the map, without indentation. `$indent` stands for its width, and `$child` for that of nested values. */
  tail?: readonly string[] | undefined
}

/** A field or an item, which is rendered if the condition holds. */
export interface TemplateField {
  node: TemplateNode
  condition?: string | undefined
}

/** A list whose items can depend on conditions. */
export interface ListNode {
  readonly type: 'list'
  items: TemplateField[]
  tail?: readonly string[] | undefined
}

/** Combines expressions by `and`. */
export function allOf(expressions: readonly string[]): string | undefined {
  const [first, ...rest] = [...new Set(expressions)]
  return rest.length === 0 ? first : `and ${[first, ...rest].map((text) => grouped(text!)).join(' ')}`
}

/** Combines expressions by `or`. */
export function anyOf(expressions: readonly string[]): string | undefined {
  const [first, ...rest] = [...new Set(expressions)]
  return rest.length === 0 ? first : `or ${[first, ...rest].map((text) => grouped(text!)).join(' ')}`
}

function grouped(expression: string): string {
  return expression.includes(' ') ? `(${expression})` : expression
}

/**
 * Merges variants of a value into one template that renders the right one. Differences are as deep in the value as possible: a map differs
 * field by field, and a list item by item.
 */
export function mergeVariants(base: unknown, variants: readonly VariantValue[]): TemplateNode {
  const differing = variants.filter(({ value }) => !deepEqual(value, base))
  if (differing.length === 0) return { type: 'plain', value: base }
  const all = [base, ...differing.map(({ value }) => value)]
  if (all.every(isJsonObject)) return mergeMaps(base as Fields, differing as VariantOf<Fields>[])
  if (all.every((value) => Array.isArray(value))) {
    return mergeLists(base as unknown[], differing as VariantOf<unknown[]>[])
  }
  const [first, ...rest] = differing
  const node = { type: 'plain', value: first!.value } as const
  return { type: 'choice', condition: first!.condition.is, ifTrue: node, ifFalse: mergeVariants(base, rest) }
}

type Fields = Readonly<Record<string, unknown>>
type VariantOf<T> = VariantValue & { readonly value: T }

function mergeMaps(base: Fields, variants: readonly VariantOf<Fields>[]): MapNode {
  const fields = new Map<string, TemplateField>()
  const keys = new Set([base, ...variants.map(({ value }) => value)].flatMap((one) => Object.keys(one)))
  for (const key of [...keys].sort()) {
    const of = variants.map(({ condition, value }) => ({ condition, value: value[key] }))
    fields.set(key, mergePresence(base[key], of))
  }
  return { type: 'map', fields }
}

/** Merges a field or an item that some variants may lack. */
export function mergePresence(base: unknown, variants: readonly VariantValue[]): TemplateField {
  const there = variants.filter(({ value }) => value !== undefined)
  const missing = variants.filter(({ value }) => value === undefined)
  if (base !== undefined) {
    const condition = allOf(missing.map(({ condition }) => condition.not))
    return { node: mergeVariants(base, there), condition }
  }
  const [first, ...rest] = there
  return {
    node: mergeVariants(first?.value, rest),
    condition: anyOf(there.map(({ condition }) => condition.is)),
  }
}

function mergeLists(base: readonly unknown[], variants: readonly VariantOf<readonly unknown[]>[]): ListNode {
  const ids = base.map(identityOf)
  for (const { value } of variants) {
    let after = -1
    for (const item of value) {
      const id = identityOf(item)
      const at = ids.indexOf(id)
      if (at < 0) ids.splice(after + 1, 0, id)
      after = at < 0 ? after + 1 : at
    }
  }
  const find = (list: readonly unknown[], id: string): unknown => list.find((item) => identityOf(item) === id)
  const items = ids.map((id) =>
    mergePresence(
      find(base, id),
      variants.map(({ condition, value }) => ({ condition, value: find(value, id) })),
    ),
  )
  return { type: 'list', items }
}

// The fields that identify an item of a list; the first field present counts.
const identifying = ['name', 'mountPath', 'containerPort', 'port', 'key'] as const

/** The part of an item by which the same item is found in another list. */
function identityOf(item: unknown): string {
  const field = isJsonObject(item) ? identifying.find((one) => item[one] !== undefined) : undefined
  return field === undefined ? JSON.stringify(item) : `${field} ${String((item as Fields)[field])}`
}

/** The node of a field as a map. Fields that are missing on the way are created. */
export function mapAt(root: MapNode, ...path: readonly string[]): MapNode {
  let at = root
  for (const key of path) {
    const field = at.fields.get(key) ?? { node: { type: 'plain', value: {} } as const }
    const node = expanded(field.node)
    if (node.type !== 'map') throw new TypeError(`${path.join('.')} is not an object`)
    at.fields.set(key, { ...field, node })
    at = node
  }
  return at
}

/** The node of a field as a list; undefined if the field is missing. */
export function listAt(parent: MapNode, key: string): ListNode | undefined {
  const field = parent.fields.get(key)
  if (field === undefined) return undefined
  const node = expanded(field.node)
  if (node.type !== 'list') throw new TypeError(`${key} is not a list`)
  parent.fields.set(key, { ...field, node })
  return node
}

/** Turns a plain object or list into a node of its fields or items. */
export function expanded(node: TemplateNode): TemplateNode {
  if (node.type !== 'plain') return node
  const plain = (value: unknown): TemplateField => ({ node: { type: 'plain', value } })
  if (Array.isArray(node.value)) return { type: 'list', items: node.value.map(plain) }
  if (!isJsonObject(node.value)) return node
  return { type: 'map', fields: new Map(Object.entries(node.value).map(([key, value]) => [key, plain(value)])) }
}

/** The text of a template. `toTemplate` turns the YAML of plain values into template text. */
export function templateText(root: MapNode, toTemplate: (yaml: string) => string): string {
  return new Writer(toTemplate).map(root, '').join('\n')
}

class Writer {
  readonly #toTemplate: (yaml: string) => string

  constructor(toTemplate: (yaml: string) => string) {
    this.#toTemplate = toTemplate
  }

  map({ fields, tail = [] }: MapNode, indent: string): string[] {
    const parts = [...fields].map(([key, { node, condition }]) => ({
      lines: this.#field(key, node, indent),
      condition,
    }))
    return [...guarded(parts, indent), ...tail.map((line) => placed(line, indent))]
  }

  #field(key: string, node: TemplateNode, indent: string): string[] {
    switch (node.type) {
      case 'plain':
        return this.#plain({ [key]: node.value }, indent)
      case 'code':
        return [`${indent}${key}: ${node.text}`]
      case 'block':
        return [`${indent}${key}:`, placed(node.text, `${indent}  `)]
      case 'choice':
        return [
          `${indent}{{- if ${node.condition} }}`,
          ...this.#field(key, node.ifTrue, indent),
          `${indent}{{- else }}`,
          ...this.#field(key, node.ifFalse, indent),
          `${indent}{{- end }}`,
        ]
      case 'map':
        if (node.fields.size === 0 && node.tail === undefined) return this.#plain({ [key]: {} }, indent)
        return [`${indent}${key}:`, ...this.map(node, `${indent}  `)]
      case 'list':
        return [`${indent}${key}:`, ...this.#list(node, indent)]
    }
  }

  #list({ items, tail = [] }: ListNode, indent: string): string[] {
    const parts = items.map(({ node, condition }) => ({ lines: this.#item(node, indent), condition }))
    return [...guarded(parts, indent), ...tail.map((line) => placed(line, indent))]
  }

  #item(node: TemplateNode, indent: string): string[] {
    if (node.type === 'plain') return this.#plain([node.value], indent)
    if (node.type === 'code') return [`${indent}- ${node.text}`]
    if (node.type !== 'map') throw new TypeError(`A list cannot contain a template node of type ${node.type}`)
    // The dash is on the line of the first field, which must always be there.
    const fields = [...node.fields]
    const isFirst = ([, { condition, node: of }]: (typeof fields)[number]): boolean =>
      condition === undefined && of.type === 'plain' && typeof of.value !== 'object'
    const first = fields.findIndex(isFirst)
    if (first < 0) throw new TypeError('An item of a list needs a field that does not depend on values')
    const sorted = [fields[first]!, ...fields.filter((_, index) => index !== first)]
    const lines = this.map({ ...node, fields: new Map(sorted) }, `${indent}  `)
    return [`${indent}- ${lines[0]!.trimStart()}`, ...lines.slice(1)]
  }

  #plain(value: object, indent: string): string[] {
    const text = this.#toTemplate(encodeYaml(value)).replace(/\n$/, '')
    return text.split('\n').map((line) => (line === '' ? '' : `${indent}${line}`))
  }
}

interface GuardedLines {
  readonly lines: readonly string[]
  readonly condition: string | undefined
}

/** Puts lines into blocks of their conditions. Neighbours with the same condition share one. */
function guarded(parts: readonly GuardedLines[], indent: string): string[] {
  return parts.flatMap(({ lines, condition }, index) => {
    if (condition === undefined) return lines
    const isOpen = parts[index - 1]?.condition === condition
    const isContinued = parts[index + 1]?.condition === condition
    return [
      ...(isOpen ? [] : [`${indent}{{- if ${condition} }}`]),
      ...lines,
      ...(isContinued ? [] : [`${indent}{{- end }}`]),
    ]
  })
}

function placed(line: string, indent: string): string {
  const width = indent.length
  return `${indent}${line.replaceAll('$indent', String(width)).replaceAll('$child', String(width + 2))}`
}
