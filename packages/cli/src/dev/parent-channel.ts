import type { FromOperator, ToOperator } from './dev-messages.ts'

/** The channel from the operator process to `dev`, which started it. */
export interface ParentChannel {
  send(message: FromOperator): void
  onMessage(listener: (message: ToOperator) => void): void
  /** Called when `dev` has exited. */
  onEnd(listener: () => void): void
}

/** The channel to the parent process; undefined if this process was started without one. */
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
