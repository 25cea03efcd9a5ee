import { isJsonObject } from '@kubewright/base'
import type { Reduction, RequestSpec, Step } from './case-format.ts'
import { EventStream, type WatchEvent } from './event-stream.ts'
import type { HttpClient } from './http-client.ts'
import type { Normalizer } from './normalizer.ts'

/** The time in milliseconds to wait for surplus events before a stream is closed. */
const settleMillis = 150

/** Opens the watch of a step, runs its `during` steps, and returns the result to compare. */
export async function runWatch(
  step: Step,
  parts: {
    readonly client: HttpClient
    readonly request: RequestSpec
    readonly normalizer: Normalizer
    readonly reduction: Reduction
    /** Runs a step of `during`. */
    readonly run: (step: Step, number: number) => Promise<void>
  },
): Promise<Record<string, unknown>> {
  using stream = await EventStream.open(parts.client, parts.request)
  const relevant = (): readonly WatchEvent[] => relevantEvents(stream.events, step)
  for (const [i, during] of (step.during ?? []).entries()) {
    const { awaitEvents } = during
    if (awaitEvents === undefined) await parts.run(during, i + 1)
    else await stream.until(() => relevant().length >= awaitEvents, 10_000)
  }
  const wanted = step.until ?? 0
  const limit = step.timeoutMs ?? 10_000
  if (typeof wanted === 'number') {
    await stream.until(() => relevant().length >= wanted, limit)
    await stream.until(() => false, settleMillis)
  } else await stream.until(() => false, limit)
  const { normalizer, reduction } = parts
  const headers = { ...stream.headers }
  if (headers.warning) headers.warning = headers.warning.map((text) => normalizer.text(text))
  const { status } = stream
  if (stream.error !== undefined) return { status, headers, body: normalizer.body(stream.error, reduction) }
  const events = arranged(relevant(), step).map(({ type, object, ...rest }) => ({
    type,
    object: normalizer.body(type === 'BOOKMARK' ? anonymousBookmark(object) : object, reduction),
    ...rest,
  }))
  return { status, headers, events, ...(wanted === 'end' ? { ended: stream.ended } : {}) }
}

function relevantEvents(events: readonly WatchEvent[], step: Step): readonly WatchEvent[] {
  if (step.dropBookmarks) return events.filter(({ type }) => type !== 'BOOKMARK')
  if (!step.initialBookmarkOnly) return events
  return events.filter(
    ({ type, object }) => type !== 'BOOKMARK' || JSON.stringify(object).includes('"k8s.io/initial-events-end":"true"'),
  )
}

function arranged(events: readonly WatchEvent[], step: Step): readonly WatchEvent[] {
  const kept = step.collapseBookmarks
    ? events.filter(({ type }, i) => type !== 'BOOKMARK' || events[i + 1]?.type !== 'BOOKMARK')
    : events
  return step.sortEvents ? [...kept].sort((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1)) : kept
}

function sortKey({ type, object }: WatchEvent): string {
  const metadata = isJsonObject(object) && isJsonObject(object['metadata']) ? object['metadata'] : {}
  return `${type} ${String(metadata['namespace'] ?? '')}/${String(metadata['name'] ?? '')}`
}

/** Removes the versions of bookmarks, because the server decides when to send one. */
function anonymousBookmark(object: unknown): unknown {
  if (!isJsonObject(object)) return object
  const copy = structuredClone(object)
  const rows = Array.isArray(copy['rows']) ? copy['rows'].map((row: unknown) => isJsonObject(row) && row['object']) : []
  for (const holder of [copy, ...rows]) {
    const metadata = isJsonObject(holder) ? holder['metadata'] : undefined
    if (isJsonObject(metadata) && metadata['resourceVersion']) metadata['resourceVersion'] = 'bookmark'
  }
  return copy
}
