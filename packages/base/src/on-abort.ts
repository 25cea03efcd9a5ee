// Looked up at run time instead of imported, so that this package also loads outside Node.
const events = globalThis.process?.getBuiltinModule?.('node:events')

/**
 * Calls `listener` once when the signal aborts, or immediately if it has aborted already. Returns a function that
 * removes the listener. A signal may have any number of listeners: Node's leak warning is disabled for it.
 */
export function onAbort(signal: AbortSignal | undefined, listener: () => void): () => void {
  if (signal === undefined) return nothing
  if (signal.aborted) {
    listener()
    return nothing
  }
  // A process has one shutdown signal, and every wait listens to it. Signals that are no EventTarget of this realm have
  // no such limit.
  if (signal instanceof EventTarget) events?.setMaxListeners(0, signal)
  signal.addEventListener('abort', listener, { once: true })
  return () => signal.removeEventListener('abort', listener)
}

const nothing = (): void => undefined
