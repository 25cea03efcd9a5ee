import { KubewrightError } from '../kubewright-error.ts'

/**
 * A mistake in how a program was called. Its code is `KW_USAGE`; its message names the flag, the value and the fix. Programs print it
 * without a stack trace and exit with code 2.
 */
export class UsageError extends KubewrightError {
  static {
    Object.defineProperty(UsageError.prototype, 'name', { value: 'UsageError', configurable: true })
  }

  constructor(message: string) {
    super('KW_USAGE', message)
  }
}
