import { Quantity } from '@kubewright/base'
import type { ResourceList } from '../pod-types.ts'

const canonicalTexts = new Map<string | number, string>()
const cachedTexts = 4096

/** Spells every quantity as Kubernetes prints it, rounded up to thousandths; what is no quantity stays for validation to name. */
export function defaultResourceList(list: ResourceList | undefined): void {
  if (!list) return
  for (const name in list) {
    const value = list[name]
    if (value !== undefined && value !== null) list[name] = canonicalQuantity(value)
  }
}

/** A quantity as Kubernetes prints it, rounded up to thousandths. */
export function canonicalQuantity(value: string | number): string | number {
  const known = canonicalTexts.get(value)
  if (known !== undefined) return known
  const parsed = Quantity.tryParse(String(value))
  if (!parsed) return value
  const rounded = Quantity.ofMilli(parsed.milliValue(), parsed.format)
  const text = (rounded.cmp(parsed) > 0 ? rounded : parsed).toString()
  if (canonicalTexts.size >= cachedTexts) canonicalTexts.clear()
  canonicalTexts.set(value, text)
  return text
}

/** The parsed quantity; zero for what is none, as Go's zero value. */
export function quantityOf(value: string | number | undefined): Quantity {
  return (value === undefined ? undefined : Quantity.tryParse(String(value))) ?? Quantity.of(0)
}

/** The sum of two lists, by resource. */
export function addResources(total: Map<string, Quantity>, list: ResourceList | undefined): void {
  for (const [name, value] of Object.entries(list ?? {})) {
    const amount = quantityOf(value)
    const before = total.get(name)
    total.set(name, before ? before.add(amount) : amount)
  }
}

/** The larger of two amounts, by resource. */
export function maxResources(total: Map<string, Quantity>, other: ReadonlyMap<string, Quantity>): void {
  for (const [name, amount] of other) {
    const before = total.get(name)
    if (!before || before.cmp(amount) < 0) total.set(name, amount)
  }
}
