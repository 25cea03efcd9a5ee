// Taken from the process instead of imported, so that this package also loads where there is no Node.
const events = globalThis.process?.getBuiltinModule?.('node:events')

/**
 * Calls `listener` once when the signal aborts, at once if it already has, and returns a function that takes the listener off again.
 * One signal may have any number of listeners: Node's warning of a leak from the eleventh on is switched off for it.
 */
export function onAbort(signal: AbortSignal | undefined, listener: () => void): () => void {
  if (signal === undefined) return nothing
  if (signal.aborted) {
    listener()
    return nothing
  }
  // A process has one shutdown signal, and everything that waits listens to it. Signals of other make are left alone.
  if (signal instanceof EventTarget) events?.setMaxListeners(0, signal)
  signal.addEventListener('abort', listener, { once: true })
  return () => signal.removeEventListener('abort', listener)
}

const nothing = (): void => undefined
