import { deepEqual } from '@kubewright/base'

/** Fields that are maps in every kind, and that may be empty in memory. */
const maps: ReadonlySet<string> = new Set(['binaryData', 'capacity', 'data', 'labels', 'matchLabels'])

/**
 * Compares two values as most strategies of kube-apiserver do: an empty list or map equals an unset one (apimachinery/pkg/api/equality). Objects in
 * memory have both; stored objects only the latter. Strategies that compare strictly use `deepEqual`.
 */
export function semanticEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (Array.isArray(a) || Array.isArray(b)) {
    const [left, right] = [a ?? [], b ?? []]
    if (!Array.isArray(left) || !Array.isArray(right) || left.length !== right.length) return false
    return left.every((item, i) => semanticEqual(item, right[i]))
  }
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return deepEqual(a, b)
  const [left, right] = [a as Record<string, unknown>, b as Record<string, unknown>]
  for (const key of Object.keys(left)) {
    const other = own(right, key)
    if (other === undefined && maps.has(key) && isEmptyMap(left[key])) continue
    if (!semanticEqual(left[key], other)) return false
  }
  for (const key of Object.keys(right)) {
    if (own(left, key) !== undefined || (maps.has(key) && isEmptyMap(right[key]))) continue
    if (!semanticEqual(undefined, right[key])) return false
  }
  return true
}

function isEmptyMap(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0
}

function own(object: Record<string, unknown>, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined
}

/** Whether a value contains an empty list, or an empty map that objects in memory keep. Such an object differs from its JSON form. */
export function hasEmptyParts(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) return value.length === 0 || value.some(hasEmptyParts)
  for (const key in value) {
    const member = (value as Record<string, unknown>)[key]
    // Most members are scalars.
    if (typeof member !== 'object') continue
    if (hasEmptyParts(member) || (maps.has(key) && isEmptyMap(member))) return true
  }
  return false
}
