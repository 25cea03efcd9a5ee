import { KubewrightError } from '@kubewright/base'

/**
 * A write was refused before it was sent, because this process cannot be sure any more that no other one does the same work.
 * Its reconcile should end: whoever works now will look at the object again.
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
