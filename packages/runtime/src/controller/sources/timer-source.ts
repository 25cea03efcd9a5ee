import { type Duration, every, jitter, toMillis } from '@kubewright/base'
import type { Key } from '@kubewright/client'
import type { Cause } from '../../queue/cause.ts'
import type { ControllerParts } from '../controller-parts.ts'
import { keyTexts, type MapContext } from './key-mapping.ts'
import type { KeySink, RunningSource, Source } from './source.ts'

/** Options of {@link timerSource}. */
export interface TimerSourceOptions {
  /** The keys to add each time, or a function that returns them. */
  readonly keys: readonly Key[] | ((context: MapContext) => Iterable<Key> | Promise<Iterable<Key>>)
  /** Whether the first time is at the start instead of after one period. @default false */
  readonly atStart?: boolean | undefined
  /**
   * Delays each key by a random share of up to this fraction of the period, so that not all are added at once. @default
   * 0
   */
  readonly jitter?: number | undefined
  /** The priority of the keys. @default 0 */
  readonly priority?: number | undefined
  /** The name in messages. @default `timer` */
  readonly name?: string | undefined
}

/**
 * Adds keys at a fixed rate. When the keys cannot be determined, the error is logged and the next period tries again.
 */
export function timerSource(period: Duration, options: TimerSourceOptions): Source {
  const { name = 'timer', atStart = false } = options
  const millis = toMillis(period)
  if (!(millis > 0)) throw new RangeError(`timerSource must have a period greater than 0: ${period}`)
  const start = (sink: KeySink, parts: ControllerParts): RunningSource => {
    const { clock, log, cluster } = parts
    const addAll = (): Promise<void> => addKeys(options, millis, sink, parts)
    const report = (error: unknown): void =>
      log.error(error, 'Timer source failed to determine its keys', { source: name })
    const tick = (): void => void addAll().catch(report)
    const timer = every(clock, millis, tick, `${name} of ${cluster.name || sink.controller}`)
    return {
      synced: atStart ? addAll().catch(report) : Promise.resolve(),
      problem: () => undefined,
      registrations: [],
      rescan: tick,
      [Symbol.asyncDispose]: async () => timer.cancel(),
    }
  }
  return Object.freeze({ name, start })
}

const cause: Cause = Object.freeze({ event: 'other', kind: 'timer' })

async function addKeys(
  options: TimerSourceOptions,
  period: number,
  sink: KeySink,
  { cluster, log, random }: ControllerParts,
): Promise<void> {
  const { keys, priority = 0, jitter: factor = 0 } = options
  const found = typeof keys === 'function' ? await keys({ client: cluster.client, log }) : keys
  for (const key of keyTexts(found)) {
    if (factor > 0) sink.addAfter(key, jitter(period, factor, random) - period, { cause, priority })
    else sink.add(key, { cause, priority })
  }
}
