import { ApiError } from '../api-error.ts'
import { newBadRequest, newGenericServerResponse, newRequestEntityTooLarge } from '../api-error-constructors.ts'
import { goType } from '../fieldset/go-text.ts'

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

  /** The failure as kube-apiserver answers it; what is wrong with an unprocessable patch it does not tell. */
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

/** The error for decoded JSON of another shape than the patch needs, as Go's decoder words it. */
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
