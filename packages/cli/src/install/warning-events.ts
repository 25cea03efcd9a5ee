import { type ApiClient, allNamespaces } from '@kubewright/client'
import { Event } from '@kubewright/k8s/core/v1'
import type { Manifest } from '../manifests/manifest.ts'

/** The options of {@link WarningEvents}. */
export interface WarningEventsOptions {
  readonly client: ApiClient
  /** The objects whose events are reported, and those of the objects that they create: ReplicaSets, Pods and so on. */
  readonly objects: readonly Pick<Manifest, 'kind' | 'metadata'>[]
  readonly signal: AbortSignal
  /** Called once for each distinct event. */
  readonly onEvent: (text: string) => void
}

// Enough to find the cause, without the repetitions of a crash loop.
const maxEvents = 20

/**
 * Reports the Warning events of objects while a command waits for them. A cluster that does not allow the user to read
 * events has none. Never rejects.
 */
export class WarningEvents {
  readonly #options: WarningEventsOptions
  readonly #seen = new Set<string>()
  readonly #known = new Set<string>()

  constructor(options: WarningEventsOptions) {
    this.#options = options
  }

  /** Watches new events until the signal aborts. */
  async watch(): Promise<void> {
    const { client, signal } = this.#options
    try {
      let resourceVersion = ''
      for await (const page of client.pages(Event, { namespace: allNamespaces, signal })) {
        resourceVersion = page.resourceVersion
        // Events of an earlier deployment.
        for (const event of page.items) this.#known.add(`${event.metadata.uid} ${event.count ?? 1}`)
      }
      while (!signal.aborted) {
        const stream = await client.watch(Event, { namespace: allNamespaces, resourceVersion, signal })
        for await (const change of stream) {
          resourceVersion = change.type === 'BOOKMARK' ? change.resourceVersion : change.object.metadata.resourceVersion
          if (change.type === 'ADDED' || change.type === 'MODIFIED') this.#report(change.object as Event)
        }
      }
    } catch {
      // The signal has aborted, or the user may not read events. Both must not fail the command.
    }
  }

  /** Reports all events that exist and were not reported, including those from before the start. */
  async reportAll(): Promise<void> {
    const { client } = this.#options
    try {
      this.#known.clear()
      const events = await client.list(Event, { namespace: allNamespaces, timeout: '10s' })
      for (const event of events) this.#report(event)
    } catch {
      // See watch().
    }
  }

  #report(event: Event): void {
    const { type, reason = '', message = '', involvedObject, metadata, count = 1 } = event
    if (type !== 'Warning' || this.#known.has(`${metadata.uid} ${count}`)) return
    const { kind = '', name = '', namespace = '' } = involvedObject
    const isConcerned = this.#options.objects.some(
      (object) =>
        (object.metadata.namespace ?? '') === namespace &&
        (name === object.metadata.name || name.startsWith(`${object.metadata.name}-`)),
    )
    const id = `${kind} ${reason} ${withoutSuffixes(message)}`
    if (!isConcerned || this.#seen.has(id) || this.#seen.size >= maxEvents) return
    this.#seen.add(id)
    this.#options.onEvent(`Warning: ${kind.toLowerCase()}/${name}: ${reason}: ${message}`)
  }
}

/** A message without the parts that differ between repetitions: the generated ends of names, and the note of aggregated events. */
function withoutSuffixes(message: string): string {
  return message.replace('(combined from similar events): ', '').replaceAll(/-[a-z0-9]{4,10}(?=[^a-z0-9-]|$)/g, '')
}
