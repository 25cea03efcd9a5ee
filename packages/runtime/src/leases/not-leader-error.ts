import { KubewrightError } from '@kubewright/base'

/**
 * A write was rejected before it was sent, because another process may be doing the same work by now. The reconcile
 * should end: the new holder will reconcile the object.
 */
export class NotLeaderError extends KubewrightError {
  static {
    Object.defineProperty(NotLeaderError.prototype, 'name', {
      value: 'NotLeaderError',
      writable: true,
      configurable: true,
    })
  }

  constructor(message: string) {
    super('KW_NOT_LEADER', message)
  }
}
