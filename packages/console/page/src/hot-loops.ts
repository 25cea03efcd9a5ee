import type { ReconcileView } from '../../src/wire/operator-view.ts'

/** A key that is reconciled suspiciously often. */
export interface HotLoop {
  readonly key: string
  readonly count: number
  /** The time from the first to the last of these reconciles. */
  readonly millis: number
}

// Far more often than an object that settles: a loop of own writes makes hundreds of reconciles.
const suspicious = 10
const windowMillis = 10_000

/** Finds the keys with many reconciles within a short time before the last one. Expects the newest first. */
export function findHotLoops(reconciles: readonly ReconcileView[]): HotLoop[] {
  const loops: HotLoop[] = []
  const byKey = Map.groupBy(reconciles, ({ controller, key }) => `${controller} ${key}`)
  for (const [key, records] of byKey) {
    const newest = Date.parse(records[0]?.startedAt ?? '')
    // Time alone does not make a loop: the reconciler asked for these.
    const recent = records.filter(
      ({ startedAt, causes }) =>
        newest - Date.parse(startedAt) < windowMillis && causes.some(({ event }) => event !== 'requeue'),
    )
    if (recent.length >= suspicious)
      loops.push({ key, count: recent.length, millis: newest - Date.parse(recent.at(-1)?.startedAt ?? '') })
  }
  return loops
}
