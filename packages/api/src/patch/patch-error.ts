/** A patch that cannot be applied or created; the message is Kubernetes' own. */
export class PatchError extends Error {
  /**
   * How an API server answers: `BadRequest` for a patch that is malformed as such, `Unprocessable` for one that does not fit the
   * document, `Internal` for the rest.
   */
  readonly kind: 'BadRequest' | 'Unprocessable' | 'TooLarge' | 'Internal'

  static {
    Object.defineProperty(PatchError.prototype, 'name', { value: 'PatchError', configurable: true })
  }

  constructor(message: string, kind: PatchError['kind'] = 'Internal') {
    super(message)
    this.kind = kind
  }
}
