import type { Writable } from 'node:stream'
import type { BodySink } from '@kubewright/api'

/** The sink of a streamed response body. `drained` also resolves when the stream closes, so that a writer never hangs. */
export function bodySinkOf(stream: Writable): BodySink {
  return {
    write: (chunk) => stream.write(chunk),
    drained: () =>
      new Promise((resolve) => {
        const done = (): void => {
          stream.off('drain', done)
          stream.off('close', done)
          resolve()
        }
        stream.once('drain', done)
        stream.once('close', done)
      }),
  }
}
