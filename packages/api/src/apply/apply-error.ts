import { KubewrightError } from '@kubewright/base'

/** An object does not match the schema that it is applied with. Its code is `KW_APPLY`. */
export class ApplyError extends KubewrightError {
  static {
    Object.defineProperty(ApplyError.prototype, 'name', { value: 'ApplyError', configurable: true })
  }

  constructor(message: string, options?: ErrorOptions) {
    super('KW_APPLY', message, options)
  }
}
