/** Joins messages as Go's aggregate errors do: without duplicates, and in brackets when there are several. */
export function aggregateMessages(messages: readonly string[]): string {
  const distinct = [...new Set(messages)]
  return distinct.length === 1 ? distinct[0]! : `[${distinct.join(', ')}]`
}
