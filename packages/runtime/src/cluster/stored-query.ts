import {
  type AnyKind,
  controllerOf,
  type KubeObject,
  parseFieldSelector,
  parseSelector,
  resourceOf,
  Selector,
  schemaAt,
  selectorFrom,
  valueAt,
} from '@kubewright/api'
import type { ListAllOptions, ListOptions } from '@kubewright/client'
import type { Store, StoreQuery } from '../cache/store/store.ts'

/** A list as a store can answer it. */
export interface StoredQuery {
  readonly selector: Selector
  readonly conditions: readonly FieldCondition[]
}

/** A field must have a value, or must not. */
export interface FieldCondition {
  readonly path: string
  readonly names: readonly string[]
  /** Compared as it is, or as a server compares: as texts, where a field that is absent reads as `absent`. */
  readonly value: unknown
  readonly asText?: { readonly absent: string; readonly negated: boolean }
  /** Reads what is no field of its own. @default the value at the names */
  readonly read?: (object: KubeObject) => unknown
}

const controllerUid = (object: KubeObject): unknown => controllerOf(object)?.uid

/** What a list asks for; undefined when it names fields that only the server knows how to read. */
export function storedQuery(kind: AnyKind, options: ListAllOptions): StoredQuery | undefined {
  const conditions: FieldCondition[] = []
  const owner = options.controlledBy?.metadata.uid
  if (owner !== undefined) conditions.push({ path: '(controller)', names: [], value: owner, read: controllerUid })
  for (const [path, value] of Object.entries(options.where ?? {})) {
    conditions.push({ path, names: path.split('.'), value })
  }
  const { fields = {}, fieldSelector = '' } = options
  const texts = [
    ...Object.entries(fields).map(([field, value]) => ({ field, value, operator: '=' })),
    ...parseFieldSelector(fieldSelector).requirements,
  ]
  for (const { field, value, operator } of texts) {
    const absent = absentText(kind, field)
    if (absent === undefined) return undefined
    const asText = { absent, negated: operator === '!=' }
    conditions.push({ path: field, names: field.split('.'), value, asText })
  }
  return { selector: selectorOf(options), conditions }
}

/** The label conditions of a list. */
export function selectorOf({ labels, selector }: ListOptions): Selector {
  const first = selectorFrom({ matchLabels: labels ?? {} })
  if (selector === undefined) return first
  const second =
    typeof selector === 'string'
      ? parseSelector(selector)
      : selector instanceof Selector
        ? selector
        : selectorFrom(selector)
  return second.isNothing ? second : first.and(...second.requirements)
}

/** Whether an object is one of those that a query asks for. */
export function matchesQuery({ selector, conditions }: StoredQuery, object: KubeObject): boolean {
  return selector.matches(object.metadata.labels) && conditions.every((condition) => holds(condition, object))
}

// Fields of one store that get an index; further ones are looked at object by object.
const maxFieldIndexes = 16
const fieldIndexes = new WeakMap<Store<KubeObject>, Set<string>>()

/** The objects of a store that a query asks for, found by an index of the first field that it names. */
export function queryStore(store: Store<KubeObject>, query: StoredQuery, namespace: string): KubeObject[] {
  const { selector, conditions } = query
  const base: StoreQuery = { ...(namespace === '' ? {} : { namespace }), selector }
  const indexed = conditions.find((condition) => condition.asText?.negated !== true && hasIndex(store, condition))
  if (indexed === undefined) {
    const objects = store.list(base)
    return conditions.length === 0 ? objects : objects.filter((object) => matchesQuery(query, object))
  }
  const index = { name: indexName(indexed), value: indexValue(indexed, indexed.value) }
  return store.list({ ...base, index }).filter((object) => matchesQuery(query, object))
}

function hasIndex(store: Store<KubeObject>, condition: FieldCondition): boolean {
  let names = fieldIndexes.get(store)
  if (names === undefined) {
    names = new Set()
    fieldIndexes.set(store, names)
  }
  const name = indexName(condition)
  if (names.has(name)) return true
  if (names.size >= maxFieldIndexes) return false
  names.add(name)
  store.addIndexer(name, (object) => [indexValue(condition, readingOf(condition, object))])
  return true
}

const indexName = ({ path, asText }: FieldCondition): string =>
  `kubewright.dev/field:${path}${asText === undefined ? '' : ':text'}`

// Texts, numbers and booleans of equal print must not meet; parts with fields of their own equal nothing.
const indexValue = (condition: FieldCondition, value: unknown): string =>
  condition.asText === undefined ? `${typeof value}:${isPlain(value) ? String(value) : ''}` : textOf(condition, value)

function holds(condition: FieldCondition, object: KubeObject): boolean {
  const value = readingOf(condition, object)
  if (condition.asText === undefined) return value === condition.value
  return (textOf(condition, value) === condition.value) !== condition.asText.negated
}

const readingOf = ({ names, read }: FieldCondition, object: KubeObject): unknown =>
  read === undefined ? valueAt(object, names) : read(object)

const isPlain = (value: unknown): boolean => typeof value !== 'object' || value === null

const textOf = ({ asText }: FieldCondition, value: unknown): string =>
  value === undefined || !isPlain(value) ? (asText?.absent ?? '') : String(value)

/**
 * As what a server reads a field of a kind that is absent; undefined when the kind has no such field. Custom resources read as the
 * empty text, and built-in kinds as Go prints the zero value.
 */
function absentText(kind: AnyKind, path: string): string | undefined {
  if (path === 'metadata.name' || path === 'metadata.namespace') return ''
  const schema = schemaAt(kind.schema, path.split('.'))
  if (schema === undefined) return kind.schema['x-kubernetes-preserve-unknown-fields'] ? '' : undefined
  if (resourceOf(kind) !== undefined) return ''
  return schema.type === 'boolean' ? 'false' : schema.type === 'integer' ? '0' : ''
}
