import { append } from './append.ts'

/** A range of lines of an old text and the lines that replace it in the new text. Either side may be empty, but not both. */
export interface LineChange {
  /** Index of the first replaced line of the old text. */
  readonly start: number
  /** Index after the last replaced line of the old text. */
  readonly end: number
  /** The lines of the new text. */
  readonly lines: readonly string[]
}

/**
 * Lists the changes that turn one list of lines into another, from top to bottom.
 *
 * The longest run of lines that both lists share stays; the parts before and after it are compared in the same way. Of several longest
 * runs, the first one stays. Lines that are frequent in a long text, such as a lone bracket, do not count towards the length of a run,
 * because they would align unrelated parts. kube-apiserver aligns the diffs in its error messages by these rules too.
 */
export function diffLines(before: readonly string[], after: readonly string[]): LineChange[] {
  const changes: LineChange[] = []
  let oldLine = 0
  let newLine = 0
  const changeUpTo = (oldEnd: number, newEnd: number): void => {
    if (oldEnd === oldLine && newEnd === newLine) return
    changes.push({ start: oldLine, end: oldEnd, lines: after.slice(newLine, newEnd) })
  }
  for (const run of sharedRuns(before, after)) {
    changeUpTo(run.oldStart, run.newStart)
    oldLine = run.oldStart + run.length
    newLine = run.newStart + run.length
  }
  changeUpTo(before.length, after.length)
  return changes
}

/**
 * Formats the difference of two lists of lines as a unified diff without file names. Returns no lines when the lists are equal.
 *
 * @param context Number of unchanged lines to show around a change.
 */
export function unifiedDiff(before: readonly string[], after: readonly string[], context = 3): string[] {
  const diff: string[] = []
  // By how many lines the new text is longer than the old one above the current hunk.
  let shift = 0
  for (const hunk of hunksOf(diffLines(before, after), context)) {
    const start = Math.max(0, hunk[0]!.start - context)
    const end = Math.min(before.length, hunk.at(-1)!.end + context)
    const body: string[] = []
    let shown = start
    let growth = 0
    for (const change of hunk) {
      for (const line of before.slice(shown, change.start)) body.push(` ${line}`)
      for (const line of before.slice(change.start, change.end)) body.push(`-${line}`)
      for (const line of change.lines) body.push(`+${line}`)
      shown = change.end
      growth += change.lines.length - (change.end - change.start)
    }
    for (const line of before.slice(shown, end)) body.push(` ${line}`)
    const length = end - start
    diff.push(`@@ -${rangeText(start, length)} +${rangeText(start + shift, length + growth)} @@`)
    append(diff, body)
    shift += growth
  }
  return diff
}

/** Groups changes whose contexts touch or overlap. */
function hunksOf(changes: readonly LineChange[], context: number): LineChange[][] {
  const hunks: LineChange[][] = []
  let previousEnd = Number.NEGATIVE_INFINITY
  for (const change of changes) {
    if (change.start - previousEnd > 2 * context) hunks.push([])
    hunks.at(-1)!.push(change)
    previousEnd = change.end
  }
  return hunks
}

/** A range in a hunk header. Lines count from 1, an empty range names the line before it, and a length of 1 is left out. */
function rangeText(start: number, length: number): string {
  if (length === 1) return String(start + 1)
  return `${length === 0 ? start : start + 1},${length}`
}

/** Equal lines at `oldStart` of the old text and `newStart` of the new one. */
interface Run {
  readonly oldStart: number
  readonly newStart: number
  readonly length: number
}

/** A part of each text; the ends are exclusive. */
interface Region {
  readonly oldStart: number
  readonly oldEnd: number
  readonly newStart: number
  readonly newEnd: number
}

/** The runs that stay, in the order of the texts. */
function sharedRuns(before: readonly string[], after: readonly string[]): Run[] {
  const rare = rarePositions(after)
  const runs: Run[] = []
  const pending: Region[] = [{ oldStart: 0, oldEnd: before.length, newStart: 0, newEnd: after.length }]
  for (let region = pending.pop(); region; region = pending.pop()) {
    const run = extend(longestRareRun(before, after, rare, region), before, after, region)
    if (run.length === 0) continue
    runs.push(run)
    pending.push(
      { ...region, oldEnd: run.oldStart, newEnd: run.newStart },
      { ...region, oldStart: run.oldStart + run.length, newStart: run.newStart + run.length },
    )
  }
  return runs.sort((a, b) => a.oldStart - b.oldStart)
}

/** From this number of lines on, a text counts as long. */
const longText = 200

/** The positions of each line of a text in ascending order, without the lines that make up more than one per cent of a long text. */
function rarePositions(lines: readonly string[]): ReadonlyMap<string, readonly number[]> {
  const positions = new Map<string, number[]>()
  for (const [index, line] of lines.entries()) {
    const known = positions.get(line)
    if (known) known.push(index)
    else positions.set(line, [index])
  }
  if (lines.length >= longText) {
    const most = Math.floor(lines.length / 100) + 1
    for (const [line, { length }] of positions) if (length > most) positions.delete(line)
  }
  return positions
}

/** The first of the longest runs of rare lines in a region. A region without one yields an empty run at its start. */
function longestRareRun(
  before: readonly string[],
  after: readonly string[],
  rare: ReadonlyMap<string, readonly number[]>,
  { oldStart, oldEnd, newStart, newEnd }: Region,
): Run {
  const matches = (oldAt: number, newAt: number): boolean => before[oldAt] === after[newAt] && rare.has(before[oldAt]!)
  let longest: Run = { oldStart, newStart, length: 0 }
  for (let old = oldStart; old < oldEnd; old++) {
    for (const position of rare.get(before[old]!) ?? []) {
      if (position < newStart || position >= newEnd) continue
      // Only the first line of a run is of interest: the run was measured there.
      if (old > oldStart && position > newStart && matches(old - 1, position - 1)) continue
      let length = 1
      while (old + length < oldEnd && position + length < newEnd && matches(old + length, position + length)) length++
      if (length > longest.length) longest = { oldStart: old, newStart: position, length }
    }
  }
  return longest
}

/** Adds the equal lines around a run, whether rare or not. */
function extend(run: Run, before: readonly string[], after: readonly string[], region: Region): Run {
  let { oldStart, newStart } = run
  while (oldStart > region.oldStart && newStart > region.newStart && before[oldStart - 1] === after[newStart - 1]) {
    oldStart--
    newStart--
  }
  let oldEnd = run.oldStart + run.length
  let newEnd = run.newStart + run.length
  while (oldEnd < region.oldEnd && newEnd < region.newEnd && before[oldEnd] === after[newEnd]) {
    oldEnd++
    newEnd++
  }
  return { oldStart, newStart, length: oldEnd - oldStart }
}
