import { KubewrightError } from '@kubewright/base'

/**
 * Text that is not what it should be: a selector, an `apiVersion`, a JSONPath, JSON or YAML. The message is Kubernetes' own where
 * Kubernetes has one, so it can be shown to users of kubectl as it is.
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
