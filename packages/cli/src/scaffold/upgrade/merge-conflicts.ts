import { diffLines, type LineChange } from '@kubewright/base'
import { linesOf } from '../../text/text-lines.ts'

/** The names of the three texts in conflict markers. */
export interface MergeNames {
  readonly ours: string
  readonly base: string
  readonly theirs: string
}

/** The result of {@link mergeWithConflicts}. */
export interface MergedText {
  readonly text: string
  /** The number of conflicts that the text marks. */
  readonly conflicts: number
}

/**
 * Applies the changes from `base` to `theirs` to `ours`. Where both changed the same or adjacent lines in different ways,
 * the result contains all three texts between conflict markers, as `git merge` with the style diff3 writes them. No line of
 * `ours` or `theirs` is lost.
 */
export function mergeWithConflicts(base: string, ours: string, theirs: string, names: MergeNames): MergedText {
  const lines = linesOf(base)
  const mine = diffLines(lines, linesOf(ours))
  const other = diffLines(lines, linesOf(theirs))
  const merged: string[] = []
  let [at, conflicts] = [0, 0]
  for (const { start, end } of regionsOf([...mine, ...other])) {
    const [left, right] = [apply(lines, mine, start, end), apply(lines, other, start, end)]
    const before = lines.slice(start, end)
    merged.push(...lines.slice(at, start))
    at = end
    if (isEqual(left, right) || isEqual(right, before)) merged.push(...left)
    else if (isEqual(left, before)) merged.push(...right)
    else {
      conflicts++
      merged.push(`<<<<<<< ${names.ours}`, ...left, `||||||| ${names.base}`, ...before)
      merged.push('=======', ...right, `>>>>>>> ${names.theirs}`)
    }
  }
  merged.push(...lines.slice(at))
  return { text: merged.map((line) => `${line}\n`).join(''), conflicts }
}

/** The ranges of lines that changes cover. Changes that touch each other share one. */
function regionsOf(changes: readonly LineChange[]): { start: number; end: number }[] {
  const regions: { start: number; end: number }[] = []
  for (const { start, end } of [...changes].sort((a, b) => a.start - b.start || a.end - b.end)) {
    const last = regions.at(-1)
    if (last !== undefined && start <= last.end) last.end = Math.max(last.end, end)
    else regions.push({ start, end })
  }
  return regions
}

/** The lines of a range after the changes in it. */
function apply(lines: readonly string[], changes: readonly LineChange[], start: number, end: number): string[] {
  const result: string[] = []
  let at = start
  for (const change of changes) {
    if (change.start < start || change.end > end) continue
    result.push(...lines.slice(at, change.start), ...change.lines)
    at = change.end
  }
  return [...result, ...lines.slice(at, end)]
}

const isEqual = (a: readonly string[], b: readonly string[]): boolean => a.join('\n') === b.join('\n')
