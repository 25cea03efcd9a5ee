import type { Change, DeletedObject } from './change.ts'

/** Details of an update. */
export interface UpdateInfo {
  /** The object did not change: it is redelivered by a resync. */
  readonly isResync: boolean
}

/** Details of a deletion. */
export interface DeleteInfo {
  /** The watch missed the deletion: the object is the last state that was seen, not the final one. */
  readonly finalStateUnknown: boolean
}

/**
 * Receives the changes of an informer, one call at a time: the next call waits for the promise of the previous one. The
 * store already contains the change, and possibly later ones. Errors of a handler are logged and counted, and delivery
 * continues.
 *
 * An object that was deleted and recreated between two lists is delivered as an update between two uids.
 */
export interface EventHandler<T> {
  onAdd?(object: T, info: { readonly isInInitialList: boolean }): void | Promise<void>
  onUpdate?(before: T, after: T, info: UpdateInfo): void | Promise<void>
  onDelete?(object: T, info: DeleteInfo): void | Promise<void>
  /**
   * Called instead of the other three. For handlers that rarely read the objects: `before` and `after` are decoded when
   * they are read, which is most of the cost of an event.
   */
  onChange?(change: Change<T>): void | Promise<void>
}

/** Calls the method of a handler that fits a change. */
export function callHandler<T>(handler: EventHandler<T>, change: Change<T>): void | Promise<void> {
  if (handler.onChange !== undefined) return handler.onChange(change)
  // Decodes objects only when the handler has the method.
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
