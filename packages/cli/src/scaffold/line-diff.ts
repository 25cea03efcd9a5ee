/** Lines of one text that stand in place of lines of another. */
export interface Hunk {
  /** In the old text: the first line, and the one after the last. */
  readonly start: number
  readonly end: number
  /** What the new text has there. */
  readonly lines: readonly string[]
}

/** The changes that turn one list of lines into another, in order: as few lines as possible. */
export function diffLines(before: readonly string[], after: readonly string[]): Hunk[] {
  let head = 0
  while (head < before.length && head < after.length && before[head] === after[head]) head++
  let tail = 0
  const most = Math.min(before.length, after.length) - head
  while (tail < most && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail++
  const a = before.slice(head, before.length - tail)
  const b = after.slice(head, after.length - tail)
  const lengths = commonLengths(a, b)
  const hunks: Hunk[] = []
  let i = 0
  let j = 0
  while (i < a.length || j < b.length) {
    const [start, from] = [i, j]
    while ((i < a.length || j < b.length) && (i >= a.length || j >= b.length || a[i] !== b[j])) {
      if (j >= b.length || (i < a.length && lengths[i + 1]![j]! >= lengths[i]![j + 1]!)) i++
      else j++
    }
    if (i > start || j > from) hunks.push({ start: head + start, end: head + i, lines: b.slice(from, j) })
    while (i < a.length && j < b.length && a[i] === b[j]) {
      i++
      j++
    }
  }
  return hunks
}

/** For each pair of positions the number of lines that both have in common from there on. */
function commonLengths(a: readonly string[], b: readonly string[]): number[][] {
  const lengths = Array.from({ length: a.length + 1 }, () => new Array<number>(b.length + 1).fill(0))
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      lengths[i]![j] = a[i] === b[j] ? lengths[i + 1]![j + 1]! + 1 : Math.max(lengths[i + 1]![j]!, lengths[i]![j + 1]!)
    }
  }
  return lengths
}

/** A unified diff without the heading: lines that go, lines that come, and three around them. Empty for equal texts. */
export function unifiedDiff(before: string, after: string): string[] {
  const context = 3
  const old = linesOf(before)
  const hunks = diffLines(old, linesOf(after))
  const out: string[] = []
  let shift = 0
  for (let index = 0; index < hunks.length; ) {
    const group = [hunks[index++]!]
    while (index < hunks.length && hunks[index]!.start - group.at(-1)!.end <= 2 * context) group.push(hunks[index++]!)
    const start = Math.max(0, group[0]!.start - context)
    const end = Math.min(old.length, group.at(-1)!.end + context)
    const body: string[] = []
    let at = start
    for (const hunk of group) {
      body.push(...old.slice(at, hunk.start).map((line) => ` ${line}`))
      body.push(...old.slice(hunk.start, hunk.end).map((line) => `-${line}`))
      body.push(...hunk.lines.map((line) => `+${line}`))
      at = hunk.end
    }
    body.push(...old.slice(at, end).map((line) => ` ${line}`))
    const grown = group.reduce((sum, hunk) => sum + hunk.lines.length - (hunk.end - hunk.start), 0)
    out.push(`@@ -${range(start, end - start)} +${range(start + shift, end - start + grown)} @@`, ...body)
    shift += grown
  }
  return out
}

/** The lines of a text; the end of the last one makes no further line. */
export function linesOf(text: string): string[] {
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines
}

function range(start: number, count: number): string {
  // Diffs count from one, and name the line before a gap.
  return `${count === 0 ? start : start + 1}${count === 1 ? '' : `,${count}`}`
}
