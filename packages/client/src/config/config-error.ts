import { KubewrightError } from '@kubewright/base'

/** The configuration is invalid. The message names the file and the field. Its code is `KW_CONFIG`. */
export class ConfigError extends KubewrightError {
  static {
    Object.defineProperty(ConfigError.prototype, 'name', { value: 'ConfigError', configurable: true })
  }

  constructor(message: string, cause?: unknown) {
    super('KW_CONFIG', message, cause === undefined ? undefined : { cause })
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
