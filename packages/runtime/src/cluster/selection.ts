import {
  type AnyKind,
  type KubeObject,
  parseFieldSelector,
  parseSelector,
  type Requirement,
  type Selector,
} from '@kubewright/api'
import { type FieldCondition, matchesQuery, type StoredQuery, storedQuery } from './stored-query.ts'

/** What a read of objects outside the selection of a cache does: read them from the server, or not find them. */
export type OutsideSelection = 'live' | 'absent'

/** The objects that a store contains when it does not contain all of its namespaces. */
export interface StoreSelection extends StoredQuery {
  readonly outside: OutsideSelection
}

/**
 * The selection of a store with these selectors; undefined when it has none. `unknown` when only the server can
 * evaluate them, so that no read can be answered from the store.
 */
export function selectionOf(
  kind: AnyKind,
  labelSelector: string,
  fieldSelector: string,
  outside: OutsideSelection,
): StoreSelection | 'unknown' | undefined {
  if (labelSelector === '' && fieldSelector === '' && outside === 'live') return undefined
  const query = storedQuery(kind, { selector: parseSelector(labelSelector), fieldSelector })
  return query === undefined ? 'unknown' : { ...query, outside }
}

/** Whether an object belongs to the objects that a store contains. */
export const isSelected = (selection: StoreSelection | undefined, object: KubeObject): boolean =>
  selection === undefined || matchesQuery(selection, object)

/** Whether every object that a query can match belongs to a selection, so that a store with it can answer the query. */
export function implies(query: StoredQuery, selection: StoreSelection): boolean {
  return (
    selection.selector.requirements.every((requirement) => impliesLabel(query.selector, requirement)) &&
    selection.conditions.every((condition) => impliesField(query.conditions, condition))
  )
}

/** Whether the object of a key belongs to a selection whatever its contents are. */
export function impliesKey(name: string, namespace: string, selection: StoreSelection): boolean {
  const known = parseFieldSelector(`metadata.name=${name},metadata.namespace=${namespace}`).requirements
  const conditions = known.map(({ field, value }) => textCondition(field, value))
  return (
    selection.selector.isEverything && selection.conditions.every((condition) => impliesField(conditions, condition))
  )
}

const textCondition = (field: string, value: string): FieldCondition => ({
  path: field,
  names: field.split('.'),
  value,
  asText: { absent: '', negated: false },
})

function impliesLabel(query: Selector, wanted: Requirement): boolean {
  return query.requirements.some((given) => given.key === wanted.key && impliesRequirement(given, wanted))
}

// Both requirements are about the same label.
function impliesRequirement(given: Requirement, wanted: Requirement): boolean {
  if (given.toString() === wanted.toString()) return true
  switch (given.operator) {
    case 'in':
    case '=':
    case '==':
      return given.values.every((value) => wanted.matches({ [wanted.key]: value }))
    case 'notin':
    case '!=':
      return isExclusion(wanted) && wanted.values.every((value) => given.values.includes(value))
    case '!':
      return wanted.matches({})
    default:
      // `exists`, `gt` and `lt` require the label, but no particular value.
      return wanted.operator === 'exists'
  }
}

const isExclusion = ({ operator }: Requirement): boolean => operator === 'notin' || operator === '!='

function impliesField(given: readonly FieldCondition[], wanted: FieldCondition): boolean {
  return given.some(({ path, value, asText, read }) => {
    if (path !== wanted.path || read !== undefined) return false
    const isEqual = String(value ?? wanted.asText?.absent ?? '') === wanted.value
    if (wanted.asText?.negated) return asText?.negated ? isEqual : !isEqual
    return isEqual && asText?.negated !== true
  })
}
