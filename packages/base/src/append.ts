/**
 * Appends items to an array. Unlike `target.push(...items)`, which passes each item as an argument, it does not exhaust the call
 * stack when there are more than about 100,000 items.
 */
export function append<T>(target: T[], items: Iterable<T>): void {
  for (const item of items) target.push(item)
}
