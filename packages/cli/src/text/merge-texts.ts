import { diffLines, type LineChange } from '@kubewright/base'
import { linesOf } from './text-lines.ts'

/**
 * Applies the changes from `base` to `theirs` to `ours`, which is derived from the same base. Undefined for a conflict: both changed the
 * same or adjacent lines in different ways.
 */
export function mergeTexts(base: string, ours: string, theirs: string): string | undefined {
  const lines = linesOf(base)
  const mine = diffLines(lines, linesOf(ours))
  const other = diffLines(lines, linesOf(theirs)).filter((change) => !mine.some((known) => isSame(known, change)))
  if (mine.some((change) => other.some((against) => touch(change, against)))) return undefined
  const all = [...mine, ...other].sort((a, b) => a.start - b.start || a.end - b.end)
  const merged: string[] = []
  let at = 0
  for (const { start, end, lines: replacement } of all) {
    merged.push(...lines.slice(at, start), ...replacement)
    at = end
  }
  merged.push(...lines.slice(at))
  return merged.map((line) => `${line}\n`).join('')
}

function isSame(a: LineChange, b: LineChange): boolean {
  return a.start === b.start && a.end === b.end && a.lines.join('\n') === b.lines.join('\n')
}

function touch(a: LineChange, b: LineChange): boolean {
  return a.start <= b.end && b.start <= a.end
}
