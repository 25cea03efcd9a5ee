import type { EventHandler } from '../cache/informer/event-handler.ts'
import type { HandlerRegistration } from '../cache/informer/shared-informer.ts'

/** Combines the registrations of one handler with several informers. */
export function mergedRegistration(registrations: readonly HandlerRegistration[]): HandlerRegistration {
  const remove = (): void => {
    for (const registration of registrations) registration.remove()
  }
  const synced = Promise.all(registrations.map((registration) => registration.synced)).then(() => undefined)
  // Prevents an unhandled rejection: callers may ignore `synced`.
  synced.catch(() => undefined)
  return {
    synced,
    get hasSynced() {
      return registrations.every((registration) => registration.hasSynced)
    },
    get pending() {
      return registrations.reduce((sum, registration) => sum + registration.pending, 0)
    },
    get lag() {
      return Math.max(0, ...registrations.map((registration) => registration.lag))
    },
    remove,
    [Symbol.dispose]: remove,
  }
}

/**
 * Serializes the calls that several informers make to a handler: each call waits for the promise of the previous one.
 */
export function oneAtATime<T>(handler: EventHandler<T>): EventHandler<T> {
  let last: Promise<void> | undefined
  const inTurn = (call: () => void | Promise<void>): void | Promise<void> => {
    const before = last
    const result = before === undefined ? call() : before.then(call)
    if (result === undefined) return undefined
    const settled = result.then(
      () => undefined,
      () => undefined,
    )
    last = settled
    void settled.then(() => {
      if (last === settled) last = undefined
    })
    return result
  }
  const { onAdd, onUpdate, onDelete, onChange } = handler
  return {
    ...(onChange && { onChange: (change) => inTurn(() => onChange.call(handler, change)) }),
    ...(onAdd && { onAdd: (object, info) => inTurn(() => onAdd.call(handler, object, info)) }),
    ...(onUpdate && { onUpdate: (before, after, info) => inTurn(() => onUpdate.call(handler, before, after, info)) }),
    ...(onDelete && { onDelete: (object, info) => inTurn(() => onDelete.call(handler, object, info)) }),
  }
}
