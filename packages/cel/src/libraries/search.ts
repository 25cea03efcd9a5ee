// Text search in linear time. The native methods take quadratic time for long parts such as many equal characters around a different one.

/** Below this number of steps in the worst case, the native methods are faster. */
const NATIVE_STEPS = 1_000_000

/** Returns the first position of `part` at or after `from`, or -1. */
export function indexOfText(text: string, part: string, from = 0): number {
  if (isCheap(text, part)) return text.indexOf(part, from)
  for (const position of positions(text, part, from)) return position
  return -1
}

/** Returns the last position of `part` at or before `last`, or -1. */
export function lastIndexOfText(text: string, part: string, last: number): number {
  if (isCheap(text, part)) return text.lastIndexOf(part, last)
  let found = -1
  for (const position of positions(text, part, 0)) {
    if (position > last) break
    found = position
  }
  return found
}

/** Splits the text at each `separator`, which must not be empty, like `String.prototype.split`. */
export function splitText(text: string, separator: string): string[] {
  if (isCheap(text, separator)) return text.split(separator)
  const parts: string[] = []
  let start = 0
  for (const position of positions(text, separator, 0)) {
    // Matches must not overlap.
    if (position < start) continue
    parts.push(text.slice(start, position))
    start = position + separator.length
  }
  parts.push(text.slice(start))
  return parts
}

function isCheap(text: string, part: string): boolean {
  return text.length * part.length <= NATIVE_STEPS
}

/** Yields all positions of `part`, also overlapping ones, by the algorithm of Knuth, Morris and Pratt. */
function* positions(text: string, part: string, from: number): Iterable<number> {
  const borders = bordersOf(part)
  let matched = 0
  for (let i = from; i < text.length; i++) {
    while (matched > 0 && (matched === part.length || text[i] !== part[matched])) matched = borders[matched - 1]!
    if (text[i] === part[matched]) matched++
    if (matched === part.length) yield i + 1 - part.length
  }
}

/** For each prefix, the length of its longest proper prefix that is also a suffix. */
function bordersOf(part: string): Uint32Array {
  const borders = new Uint32Array(part.length)
  for (let i = 1, length = 0; i < part.length; i++) {
    while (length > 0 && part[i] !== part[length]) length = borders[length - 1]!
    if (part[i] === part[length]) length++
    borders[i] = length
  }
  return borders
}
