import { KubewrightError } from '@kubewright/base'

/**
 * The configuration is invalid. The message names the file and the field. Its code is `KW_CONFIG`, or `KW_NO_CLUSTER` if
 * there is none.
 */
export class ConfigError extends KubewrightError {
  static {
    Object.defineProperty(ConfigError.prototype, 'name', { value: 'ConfigError', configurable: true })
  }

  constructor(message: string, cause?: unknown, code: 'KW_CONFIG' | 'KW_NO_CLUSTER' = 'KW_CONFIG') {
    super(code, message, cause === undefined ? undefined : { cause })
  }
}

/** Credentials could not be obtained. Its code is `KW_CREDENTIALS`. */
export class CredentialsError extends KubewrightError {
  static {
    Object.defineProperty(CredentialsError.prototype, 'name', { value: 'CredentialsError', configurable: true })
  }

  constructor(message: string, cause?: unknown) {
    super('KW_CREDENTIALS', message, cause === undefined ? undefined : { cause })
  }
}
