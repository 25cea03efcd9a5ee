import type { Schedule } from '../define/schedule.ts'
import type { TimelineEntry } from '../define/timeline.ts'
import type { Violation } from '../define/violation.ts'

const maxLines = 60

/** Describes a failure as a timeline: what happened when, what is wrong, and how to replay it. */
export function storyOf(
  violation: Violation,
  timeline: readonly TimelineEntry[],
  { faults, operations }: Schedule,
  replay: string,
): string {
  const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`
  const lines = [
    `${violation.message}`,
    '',
    `Oracle "${violation.oracle}", ${count(operations.length, 'operation')}, ${count(faults.length, 'fault')}:`,
    '',
    ...shown(withoutRepetitions(timeline)).map(lineOf),
  ]
  if (violation.details.length > 0) lines.push('', ...violation.details.map((detail) => `  - ${detail}`))
  return [...lines, '', `Replay it with: ${replay}`].join('\n')
}

/** Replaces further repetitions of the same few lines with their number. */
export function withoutRepetitions(timeline: readonly TimelineEntry[]): TimelineEntry[] {
  const result: TimelineEntry[] = []
  const counts = new Map<string, number>()
  let skipped: TimelineEntry[] = []
  const flush = (): void => {
    const last = skipped.at(-1)
    if (last !== undefined) {
      const what = skipped.length === 1 ? 'line' : 'lines'
      result.push({ time: last.time, actor: last.actor, text: `(${skipped.length} similar ${what} until here)` })
    }
    skipped = []
  }
  for (const entry of timeline) {
    if (entry.actor !== 'operator') {
      flush()
      counts.clear()
      result.push(entry)
      continue
    }
    const count = (counts.get(entry.text) ?? 0) + 1
    counts.set(entry.text, count)
    if (count > 2) skipped.push(entry)
    else {
      flush()
      result.push(entry)
    }
  }
  flush()
  return result
}

/** The lines around operations and faults, if there are too many. */
function shown(timeline: readonly TimelineEntry[]): TimelineEntry[] {
  if (timeline.length <= maxLines) return [...timeline]
  const important = timeline.map(({ actor }) => actor === 'fault' || actor === 'user' || actor === 'oracle')
  const kept = timeline.filter((_, index) => important.slice(Math.max(0, index - 4), index + 9).some(Boolean))
  return [...kept.slice(0, maxLines - 10), ...kept.slice(Math.max(maxLines - 10, kept.length - 10))]
}

function lineOf({ time, text, source }: TimelineEntry): string {
  return `  ${timeText(time)}  ${text}${source === undefined ? '' : `\n              at ${source}`}`
}

/** `0:12.345`: minutes, seconds and milliseconds. */
export function timeText(millis: number): string {
  const minutes = Math.floor(millis / 60_000)
  const seconds = ((millis % 60_000) / 1000).toFixed(3).padStart(6, '0')
  return `${String(minutes).padStart(2, ' ')}:${seconds}`
}
