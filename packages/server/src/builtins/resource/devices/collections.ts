import { duplicate, type FieldError, type FieldPath, tooMany } from '@kubewright/schema'

/** Checks the length of a list and then each item. The items of a list that is too long are not checked. */
export function checkItems<T>(
  errors: FieldError[],
  path: FieldPath,
  items: readonly T[],
  limit: number,
  check: (item: T, path: FieldPath) => void,
): void {
  if (items.length > limit) errors.push(tooMany(path, items.length, limit))
  else for (const [i, item] of items.entries()) check(item, path.index(i))
}

/** As {@link checkItems}, for items with unique keys. Duplicates are reported last. */
export function checkSet<T>(
  errors: FieldError[],
  path: FieldPath,
  items: readonly T[],
  limit: number,
  check: (item: T, path: FieldPath) => void,
  keyOf: (item: T) => string,
): void {
  checkItems(errors, path, items, limit, check)
  if (items.length > limit) return
  const seen = new Set<string>()
  for (const [i, item] of items.entries()) {
    const key = keyOf(item)
    if (seen.has(key)) errors.push(duplicate(path.index(i), key))
    seen.add(key)
  }
}
