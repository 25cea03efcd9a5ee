import type { ToOperator } from './dev-messages.ts'
import type { ParentChannel } from './operator-process.ts'

/** The channel to the process that started this one; undefined when nobody did who listens. */
export function parentChannel(): ParentChannel | undefined {
  if (process.send === undefined) return undefined
  return {
    send: (message) => {
      if (process.connected) process.send?.(message)
    },
    onMessage: (listener) => void process.on('message', (message) => listener(message as ToOperator)),
    onEnd: (listener) => void process.once('disconnect', listener),
  }
}
