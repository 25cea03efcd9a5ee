import { Quantity } from '@kubewright/base'
import type { ResourceList } from '../pod-types.ts'

const canonicalTexts = new Map<string | number, string>()
const cachedTexts = 4096

/** Replaces every quantity by its canonical form, rounded up to thousandths. Invalid quantities stay, so that validation reports them. */
export function defaultResourceList(list: ResourceList | undefined): void {
  if (!list) return
  for (const name in list) {
    const value = list[name]
    if (value !== undefined && value !== null) list[name] = canonicalQuantity(value)
  }
}

/** The canonical form of a quantity, rounded up to thousandths. Returns an invalid quantity unchanged. */
export function canonicalQuantity(value: string | number): string | number {
  const known = canonicalTexts.get(value)
  if (known !== undefined) return known
  const parsed = Quantity.tryParse(String(value))
  if (!parsed) return value
  const text = parsed.roundUp(-3).toString()
  if (canonicalTexts.size >= cachedTexts) canonicalTexts.clear()
  canonicalTexts.set(value, text)
  return text
}

/** Parses a quantity. A missing or invalid one counts as zero. */
export function quantityOf(value: string | number | undefined): Quantity {
  return (value === undefined ? undefined : Quantity.tryParse(String(value))) ?? Quantity.of(0)
}

/** Adds a list of resources to a total. */
export function addResources(total: Map<string, Quantity>, list: ResourceList | undefined): void {
  for (const [name, value] of Object.entries(list ?? {})) {
    const amount = quantityOf(value)
    const before = total.get(name)
    total.set(name, before ? before.add(amount) : amount)
  }
}

/** Raises each amount of a total to at least the other amount of the same resource. */
export function maxResources(total: Map<string, Quantity>, other: ReadonlyMap<string, Quantity>): void {
  for (const [name, amount] of other) {
    const before = total.get(name)
    if (!before || before.cmp(amount) < 0) total.set(name, amount)
  }
}
