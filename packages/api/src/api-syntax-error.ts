import { KubewrightError } from '@kubewright/base'

/**
 * A text that cannot be parsed: a selector, an `apiVersion`, a JSONPath, JSON or YAML. Where Kubernetes has a message
 * for the failure, this error has the same one, so that it can be shown to users of kubectl unchanged.
 */
export class ApiSyntaxError extends KubewrightError {
  static {
    Object.defineProperty(ApiSyntaxError.prototype, 'name', {
      value: 'ApiSyntaxError',
      writable: true,
      configurable: true,
    })
  }

  constructor(message: string, options?: ErrorOptions) {
    super('KW_SYNTAX', message, options)
  }
}
