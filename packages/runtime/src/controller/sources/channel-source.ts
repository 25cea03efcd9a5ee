import { KubewrightError } from '@kubewright/base'
import type { Key } from '@kubewright/client'
import type { Cause } from '../../queue/cause.ts'
import type { AddOptions } from '../../queue/queue.ts'
import { keyTexts } from './key-mapping.ts'
import type { KeySink, RunningSource, Source } from './source.ts'

/** A source that code pushes keys into, for example from a webhook. Every controller that uses it receives all keys. */
export interface ChannelSource extends Source {
  /**
   * Adds a key. Until a controller has started the source, it buffers up to `capacity` different keys; then it throws.
   */
  push(key: Key, options?: AddOptions): void
}

/** Options of {@link channelSource}. */
export interface ChannelSourceOptions {
  /** The maximum number of buffered keys. @default 1024 */
  readonly capacity?: number | undefined
  /** The name in messages. @default `channel` */
  readonly name?: string | undefined
}

const cause: Cause = Object.freeze({ event: 'other', kind: 'channel' })

/** Creates a source that code pushes keys into. Once started, it buffers nothing: queues hold each key once. */
export function channelSource(options: ChannelSourceOptions = {}): ChannelSource {
  const { capacity = 1024, name = 'channel' } = options
  const early = new Map<string, AddOptions>()
  const sinks = new Set<KeySink>()
  const push = (key: Key, given: AddOptions = {}): void => {
    const [text = ''] = keyTexts([key])
    const add = { cause, ...given }
    for (const sink of sinks) sink.add(text, add)
    if (sinks.size > 0) return
    if (early.size >= capacity && !early.has(text)) {
      throw new KubewrightError(
        'KW_CHANNEL_FULL',
        `Cannot push ${JSON.stringify(text)} into source "${name}": no controller has started it and it holds ${capacity} keys. ` +
          "Start a controller that uses it, or raise its 'capacity'",
      )
    }
    early.set(text, add)
  }
  const start = (sink: KeySink): RunningSource => {
    sinks.add(sink)
    for (const [key, add] of early) sink.add(key, add)
    early.clear()
    return {
      synced: Promise.resolve(),
      problem: () => undefined,
      registrations: [],
      [Symbol.asyncDispose]: async () => void sinks.delete(sink),
    }
  }
  return Object.freeze({ name, start, push })
}
