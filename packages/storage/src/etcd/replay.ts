import { WireReader } from '@kubewright/base/protobuf'
import type { EtcdClient } from './etcd-client.ts'
import { type KeyRange, readWatch, watchRequest } from './messages.ts'

/** All keys: etcd's notation for an unbounded range. */
const everything: KeyRange = { start: Uint8Array.of(0), end: Uint8Array.of(0) }

/**
 * Whether no key of the range changed after revision `after` up to `until`. Reads the changes of all keys in etcd: each
 * revision has at least one change, so the replay is known to be complete when it reaches `until`. Undefined when that
 * history cannot be read.
 *
 * Only for servers whose progress reports are not reliable, because it opens a stream and transfers all changes since
 * `after`.
 */
export function unchangedBetween(
  client: EtcdClient,
  range: KeyRange,
  { after, until, signal }: { readonly after: number; readonly until: number; readonly signal: AbortSignal },
): Promise<boolean | undefined> {
  return new Promise((resolve) => {
    let cancel = (): void => undefined
    const finish = (result: boolean | undefined): void => {
      signal.removeEventListener('abort', giveUp)
      cancel()
      resolve(result)
    }
    const giveUp = (): void => finish(undefined)
    if (signal.aborted) return giveUp()
    signal.addEventListener('abort', giveUp, { once: true })
    const opened = client.watch({
      message(data) {
        const { events, canceled } = readWatch(new WireReader(data))
        if (canceled) return finish(undefined)
        for (const { kv } of events) {
          if (kv.modRevision > until) return finish(true)
          if (contains(range, kv.key)) return finish(false)
        }
        if ((events.at(-1)?.kv.modRevision ?? 0) >= until) finish(true)
      },
      end: giveUp,
    })
    opened.then(({ stream }) => {
      cancel = stream.cancel
      if (signal.aborted) stream.cancel()
      else stream.send(watchRequest(everything, after + 1, { previous: false }))
    }, giveUp)
  })
}

function contains({ start, end }: KeyRange, key: Uint8Array): boolean {
  if (Buffer.compare(key, start) < 0) return false
  return end === undefined || isUnbounded(end) || Buffer.compare(key, end) < 0
}

/** Whether the end of a range is a single zero byte, which means no upper bound. */
const isUnbounded = (end: Uint8Array): boolean => end.length === 1 && end[0] === 0
