import { isJsonObject, parseQuantity } from '@kubewright/base'

/** Options of {@link semanticEqual}. */
export interface SemanticEqualOptions {
  /** Further fields with quantities, such as `['memory']` for a field of an own kind. @default none */
  readonly quantities?: readonly string[] | undefined
}

/** Fields of built-in types whose values are maps of quantities. */
export const quantityMaps: ReadonlySet<string> = new Set([
  'allocatable',
  'allocatedResources',
  'capacity',
  'consumedCapacity',
  'default',
  'defaultRequest',
  'hard',
  'limits',
  'max',
  'maxLimitRequestRatio',
  'min',
  'overhead',
  'podFixed',
  'requests',
  'used',
])

/** Fields of built-in types that are quantities and have names that do not also occur with other values. */
export const quantityFields: ReadonlySet<string> = new Set([
  'averageValue',
  'divisor',
  'maximumVolumeSize',
  'sizeLimit',
  'tolerance',
])

/**
 * Reports whether two values mean the same to Kubernetes. `null`, an empty list, an empty object and an absent field are
 * equal, and so are quantities of the same value, such as `1` and `1000m` in `resources`. Empty texts, `false` and 0 differ
 * from absent fields. Use `deepEqual` where `emptyDir: {}` must differ from no `emptyDir`.
 */
export function semanticEqual(a: unknown, b: unknown, { quantities = [] }: SemanticEqualOptions = {}): boolean {
  const isQuantity = (field: string): boolean => quantityFields.has(field) || quantities.includes(field)
  const equal = (left: unknown, right: unknown, at: 'quantity' | 'quantities' | 'other'): boolean => {
    if (Object.is(left, right)) return true
    if (isNothing(left) || isNothing(right)) return isNothing(left) && isNothing(right)
    if (Array.isArray(left) || Array.isArray(right)) {
      if (!Array.isArray(left) || !Array.isArray(right) || left.length !== right.length) return false
      return left.every((item, index) => equal(item, right[index], at === 'quantity' ? at : 'other'))
    }
    if (isJsonObject(left) && isJsonObject(right)) {
      return [...new Set([...Object.keys(left), ...Object.keys(right)])].every((field) =>
        equal(own(left, field), own(right, field), at === 'other' ? placeOf(field) : 'quantity'),
      )
    }
    return at === 'quantity' && equalQuantities(left, right)
  }
  const placeOf = (field: string): 'quantity' | 'quantities' | 'other' =>
    isQuantity(field) ? 'quantity' : quantityMaps.has(field) ? 'quantities' : 'other'
  return equal(a, b, 'other')
}

const own = (object: Readonly<Record<string, unknown>>, field: string): unknown =>
  Object.hasOwn(object, field) ? object[field] : undefined

/** Whether a value has no content: it is absent, or only contains absent and empty values. */
function isNothing(value: unknown): boolean {
  if (value === undefined || value === null) return true
  if (Array.isArray(value)) return value.length === 0
  return isJsonObject(value) && Object.values(value).every(isNothing)
}

function equalQuantities(a: unknown, b: unknown): boolean {
  const [left, right] = [quantityOf(a), quantityOf(b)]
  return left !== undefined && right !== undefined && left.cmp(right) === 0
}

function quantityOf(value: unknown): ReturnType<typeof parseQuantity> | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined
  try {
    return parseQuantity(String(value))
  } catch {
    return undefined
  }
}
