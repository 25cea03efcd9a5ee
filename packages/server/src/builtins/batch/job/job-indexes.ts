import { goQuote } from '@kubewright/base'

/** A closed interval of completion indexes. */
type Interval = readonly [first: number, last: number]

/** Counts the completion indexes in a list such as `1,3-5`, which has four. Returns an error message if the list is malformed. */
export function countIndexes(text: string, completions: number): number | string {
  let total = 0
  let last: number | undefined
  if (text === '') return 0
  for (const fragment of text.split(',')) {
    const interval = parseInterval(fragment, completions)
    if (typeof interval === 'string') return interval
    const [first, end] = interval
    if (last !== undefined && last >= first) return `non-increasing order, previous: ${last}, current: ${first}`
    total += end - first + 1
    last = end
  }
  return total
}

/** Returns the lowest completion index that occurs in both lists. Malformed parts are skipped. */
export function commonIndex(completed: string, failed: string, completions: number): number | undefined {
  const [done, lost] = [completed, failed].map((text) => (text === '' ? [] : intervalsOf(text, completions)))
  let [i, k] = [0, 0]
  for (;;) {
    const [a, b] = [done![i], lost![k]]
    if (!a || !b) return undefined
    if (a[0] <= b[1] && b[0] <= a[1]) return Math.max(a[0], b[0])
    if (a[0] <= b[0]) i++
    else k++
  }
}

function intervalsOf(text: string, completions: number): Interval[] {
  const parsed = text.split(',').map((fragment) => parseInterval(fragment, completions))
  return parsed.filter((interval): interval is Interval => typeof interval !== 'string')
}

function parseInterval(text: string, completions: number): Interval | string {
  const limits = text.split('-')
  if (limits.length > 2) {
    const rule = "violates the requirement that an index interval can have at most two parts separated by '-'"
    return `the fragment ${goQuote(text)} ${rule}`
  }
  const numbers: number[] = []
  for (const limit of limits) {
    if (!/^[+-]?\d+$/.test(limit)) return `cannot convert string to integer for index: ${goQuote(limit)}`
    const number = Number(limit)
    if (number >= completions) return `too large index: ${goQuote(limit)}`
    numbers.push(number)
  }
  const [first = 0, last = first] = numbers
  if (numbers.length === 2 && first >= last) return `non-increasing order, previous: ${first}, current: ${last}`
  return [first, last]
}
