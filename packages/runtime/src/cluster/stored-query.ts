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
import { type IndexQuery, type ListAllOptions, type ListOptions, matchesIndex } from '@kubewright/client'
import type { Store, StoreQuery } from '../cache/store/store.ts'

/** A list request in a form that a store can evaluate. */
export interface StoredQuery {
  readonly selector: Selector
  readonly conditions: readonly FieldCondition[]
  readonly index?: IndexQuery | undefined
}

/** A condition on the value of a field. */
export interface FieldCondition {
  readonly path: string
  readonly names: readonly string[]
  /** Compared by identity or, with `asText`, as the server compares: as text, with `absent` for a missing field. */
  readonly value: unknown
  readonly asText?: { readonly absent: string; readonly negated: boolean } | undefined
  /** Reads a derived value. @default the value at the names */
  readonly read?: ((object: KubeObject) => unknown) | undefined
}

const controllerUid = (object: KubeObject): unknown => controllerOf(object)?.uid

/** Converts list options; undefined when they use fields that only the server can evaluate. */
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
  return { selector: selectorOf(options), conditions, index: options.index }
}

/** The label selector of a list request. */
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

/** Whether an object matches a query. */
export function matchesQuery({ selector, conditions, index }: StoredQuery, object: KubeObject): boolean {
  return (
    selector.matches(object.metadata.labels) &&
    conditions.every((condition) => holds(condition, object)) &&
    (index === undefined || matchesIndex(index, object))
  )
}

// The maximum number of fields with an index per store. Conditions on further fields scan the objects.
const maxFieldIndexes = 16
const fieldIndexes = new WeakMap<Store<KubeObject>, Set<string>>()

/** The objects of a store that match a query. Uses an index of the first indexable condition. */
export function queryStore(store: Store<KubeObject>, query: StoredQuery, namespace: string): KubeObject[] {
  const { selector, conditions } = query
  const base: StoreQuery = { ...(namespace === '' ? {} : { namespace }), selector }
  if (query.index !== undefined) {
    const name = declaredIndex(store, query.index)
    // An object for which the function failed may belong to the result: the call fails with that error.
    const [failed] = store.list({ ...base, index: { name, value: failedValue } })
    if (failed !== undefined) query.index.index.valuesOf(failed)
    const found = store.list({ ...base, index: { name, value: `:${query.index.value}` } })
    return conditions.length === 0 ? found : found.filter((object) => matchesQuery(query, object))
  }
  const indexed = conditions.find((condition) => condition.asText?.negated !== true && hasIndex(store, condition))
  if (indexed === undefined) {
    const objects = store.list(base)
    return conditions.length === 0 ? objects : objects.filter((object) => matchesQuery(query, object))
  }
  const index = { name: indexName(indexed), value: indexValue(indexed, indexed.value) }
  return store.list({ ...base, index }).filter((object) => matchesQuery(query, object))
}

// Values have a prefix, so that no value equals this one.
const failedValue = 'failed'
const declaredIndexes = new WeakMap<Store<KubeObject>, Map<IndexQuery['index'], string>>()

/** The name of a declared index in a store, which gets the index on first use. */
function declaredIndex(store: Store<KubeObject>, { index }: IndexQuery): string {
  let names = declaredIndexes.get(store)
  if (names === undefined) {
    names = new Map()
    declaredIndexes.set(store, names)
  }
  let name = names.get(index)
  if (name === undefined) {
    // The number distinguishes indexes that share a name.
    name = `kubewright.dev/index:${index.indexName}#${names.size}`
    names.set(index, name)
    store.addIndexer(name, (object) => {
      try {
        return index.valuesOf(object).map((value) => `:${value}`)
      } catch {
        // Must not end the watch: the query reports the error.
        return [failedValue]
      }
    })
  }
  return name
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

// The type prefix keeps strings, numbers and booleans with the same text apart. Objects and arrays equal nothing.
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
 * The text that the server uses for a missing field of a kind; undefined when the kind has no such field. Custom
 * resources use the empty text, built-in kinds Go's zero value.
 */
function absentText(kind: AnyKind, path: string): string | undefined {
  if (path === 'metadata.name' || path === 'metadata.namespace') return ''
  const schema = schemaAt(kind.schema, path.split('.'))
  if (schema === undefined) return kind.schema['x-kubernetes-preserve-unknown-fields'] ? '' : undefined
  if (resourceOf(kind) !== undefined) return ''
  return schema.type === 'boolean' ? 'false' : schema.type === 'integer' ? '0' : ''
}
