import type { Change, DeletedObject } from './change.ts'

/** What an update handler is told besides the objects. */
export interface UpdateInfo {
  /** The object is the same as before: it is told again because a resync is due. */
  readonly isResync: boolean
}

/** What a delete handler is told besides the object. */
export interface DeleteInfo {
  /** The deletion itself was missed, so the object is the last state that was seen, not the final one. */
  readonly finalStateUnknown: boolean
}

/**
 * Is told about the objects of an informer, one call at a time: the next one waits for the promise that the last one returned. The
 * store is up to date with what is told, or ahead of it. What a handler throws is logged and counted, and delivery goes on.
 *
 * An object that was deleted and made again while nobody looked is told as an update between two uids.
 */
export interface EventHandler<T> {
  onAdd?(object: T, info: { readonly isInInitialList: boolean }): void | Promise<void>
  onUpdate?(before: T, after: T, info: UpdateInfo): void | Promise<void>
  onDelete?(object: T, info: DeleteInfo): void | Promise<void>
  /**
   * Told instead of the other three, for handlers that seldom look at the objects: `before` and `after` of a change are only decoded
   * when they are read, which is most of what an event costs.
   */
  onChange?(change: Change<T>): void | Promise<void>
}

/** Tells a handler about a change, in the way that it wants to be told. */
export function tellHandler<T>(handler: EventHandler<T>, change: Change<T>): void | Promise<void> {
  if (handler.onChange !== undefined) return handler.onChange(change)
  // Objects that nobody asked for are not decoded.
  switch (change.type) {
    case 'add':
      return handler.onAdd?.(change.after as T, { isInInitialList: change.initial })
    case 'update':
      return handler.onUpdate?.(change.before as T, change.after as T, { isResync: change.sync })
    case 'delete': {
      if (handler.onDelete === undefined) return
      const { object, finalStateUnknown } = change.deleted as DeletedObject<T>
      return handler.onDelete(object, { finalStateUnknown })
    }
  }
}
