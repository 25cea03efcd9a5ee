import { KubewrightError } from '@kubewright/base'
import { ApiError } from '../api-error.ts'
import { newBadRequest, newGenericServerResponse, newRequestEntityTooLarge } from '../api-error-constructors.ts'
import { goType } from '../fieldset/go-text.ts'

/** A patch cannot be applied or created. The message is that of Kubernetes. Its code is `KW_PATCH`. */
export class PatchError extends KubewrightError {
  /**
   * The class of response: `BadRequest` for a malformed patch, `Unprocessable` for a patch that does not fit the
   * document, `TooLarge` for too many operations, `Internal` for the rest.
   */
  readonly kind: 'BadRequest' | 'Unprocessable' | 'TooLarge' | 'Internal'

  static {
    Object.defineProperty(PatchError.prototype, 'name', { value: 'PatchError', configurable: true })
  }

  constructor(message: string, kind: PatchError['kind'] = 'Internal') {
    super('KW_PATCH', message)
    this.kind = kind
  }

  /** The error response of kube-apiserver, which hides the details of an unprocessable patch. */
  toApiError(): ApiError {
    switch (this.kind) {
      case 'BadRequest':
        return newBadRequest(this.message)
      case 'Unprocessable':
        return newGenericServerResponse({ code: 422, verb: '', serverMessage: this.message })
      case 'TooLarge':
        return newRequestEntityTooLarge(this.message)
      default:
        return new ApiError(
          { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message: this.message, code: 500 },
          { cause: this },
        )
    }
  }
}

/** The error for decoded JSON that has the wrong type for a patch, with the message of Go's decoder. */
export function cannotDecode(value: unknown, target: string, prefix = ''): PatchError {
  const type = goType(value)
  const json = type.startsWith('map')
    ? 'object'
    : type.startsWith('[]')
      ? 'array'
      : type.endsWith('64')
        ? 'number'
        : type
  return new PatchError(`${prefix}json: cannot unmarshal ${json} into Go ${target}`, 'BadRequest')
}

/** A test operation of a JSON patch found another value. */
export class PatchTestError extends PatchError {
  constructor(message: string) {
    super(message, 'Unprocessable')
  }
}
