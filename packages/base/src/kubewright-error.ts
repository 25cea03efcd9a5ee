// Registered, so that every loaded copy of this package shares the brand.
const BRAND: unique symbol = Symbol.for('kubewright.error')

/** The code of an error: stable across versions, unlike its message. */
export type KubewrightErrorCode = `KW_${string}`

/**
 * The base of all errors that Kubewright defines. Recognise them with `isKubewrightError`, which, unlike `instanceof`, also works
 * when two copies of the package are loaded.
 */
export class KubewrightError extends Error {
  readonly code: KubewrightErrorCode

  static {
    // On the prototype, so that instances print and compare without it.
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

/** Whether `error` is a `KubewrightError` of any loaded copy of the package, and of the given code if there is one. */
export function isKubewrightError(error: unknown, code?: KubewrightErrorCode): error is KubewrightError {
  if (typeof error !== 'object' || error === null || !(BRAND in error)) return false
  return code === undefined || ('code' in error && error.code === code)
}
