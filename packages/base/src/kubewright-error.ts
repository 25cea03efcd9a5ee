// A registered symbol, so that all loaded copies of this package share the brand.
const BRAND: unique symbol = Symbol.for('kubewright.error')

/** The code of an error. Unlike the message, it is stable across versions. */
export type KubewrightErrorCode = `KW_${string}`

/**
 * The base class of all errors that users of Kubewright see, except `TypeError` and `RangeError` for wrong arguments.
 * Recognise them with `isKubewrightError`: unlike `instanceof`, it also works when two copies of the package are loaded.
 */
export class KubewrightError extends Error {
  readonly code: KubewrightErrorCode

  static {
    // Defined on the prototype, so that the name does not appear as an own property when an error is printed or
    // compared.
    Object.defineProperty(KubewrightError.prototype, 'name', {
      value: 'KubewrightError',
      writable: true,
      configurable: true,
    })
    Object.defineProperty(KubewrightError.prototype, BRAND, { value: true })
  }

  constructor(code: KubewrightErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

/**
 * Reports whether `error` is a `KubewrightError` of any loaded copy of the package and, if `code` is given, has that
 * code.
 */
export function isKubewrightError(error: unknown, code?: KubewrightErrorCode): error is KubewrightError {
  if (typeof error !== 'object' || error === null || !(BRAND in error)) return false
  return code === undefined || ('code' in error && error.code === code)
}
