import type { ReconcileView } from '../../src/wire/operator-view.ts'

/** A field whose changes cause reconciles suspiciously often. */
export interface Trouble {
  /** `fight` if several writers change the field in turn. */
  readonly type: 'loop' | 'fight'
  /** The controller and the key that it reconciles. */
  readonly key: string
  readonly field: string
  /** The object that has the field, such as `apps/v1 Deployment default/web`. */
  readonly of: string
  /** The number of reconciles that changes of the field caused. */
  readonly count: number
  /** The time from the first to the last of them. */
  readonly millis: number
  readonly writers: readonly string[]
}

// Far more often than an object that settles: a loop of own writes makes hundreds of reconciles.
const suspicious = 10
// Two writers that correct each other once or twice are usual.
const fighting = 4
const windowMillis = 10_000

interface Tally {
  readonly field: string
  readonly of: string
  readonly times: number[]
  readonly writers: Set<string>
}

/**
 * Finds fields that kept changing shortly before the last reconcile of a key: one trouble per key, that of the field with
 * the most changes. Expects the newest reconcile first.
 */
export function findTroubles(reconciles: readonly ReconcileView[]): Trouble[] {
  const troubles: Trouble[] = []
  const byKey = new Map<string, ReconcileView[]>()
  for (const record of reconciles) {
    const key = `${record.controller} ${record.key}`
    byKey.set(key, [...(byKey.get(key) ?? []), record])
  }
  for (const [key, records] of byKey) {
    const newest = Date.parse(records[0]?.startedAt ?? '')
    const recent = records.filter(({ startedAt }) => newest - Date.parse(startedAt) < windowMillis)
    const found = talliesOf(recent)
      .map((tally) => troubleOf(key, tally))
      .filter((trouble) => trouble !== undefined)
    const [worst] = found.sort((a, b) => Number(b.type === 'fight') - Number(a.type === 'fight') || b.count - a.count)
    if (worst !== undefined) troubles.push(worst)
  }
  return troubles
}

function talliesOf(reconciles: readonly ReconcileView[]): Tally[] {
  const tallies = new Map<string, Tally>()
  for (const { startedAt, causes } of reconciles) {
    for (const { event, kind = '', object = '', paths = [], by = [] } of causes) {
      if (event !== 'update') continue
      const of = `${kind} ${object}`.trim()
      for (const field of paths) {
        // It follows from other fields.
        if (field === 'metadata.generation') continue
        const tally = tallies.get(`${of} ${field}`) ?? { field, of, times: [], writers: new Set() }
        tallies.set(`${of} ${field}`, tally)
        tally.times.push(Date.parse(startedAt))
        // With several writers it is unknown which of them wrote this field.
        if (by.length === 1) tally.writers.add(by[0] ?? '')
      }
    }
  }
  return [...tallies.values()]
}

function troubleOf(key: string, { field, of, times, writers }: Tally): Trouble | undefined {
  const type = writers.size > 1 && times.length >= fighting ? 'fight' : 'loop'
  if (type === 'loop' && times.length < suspicious) return undefined
  // Newest first, as the reconciles.
  const millis = (times[0] ?? 0) - (times.at(-1) ?? 0)
  return { type, key, field, of, count: times.length, millis, writers: [...writers] }
}
