import { formatGroupVersion, type GroupVersionKind, type GroupVersionResource } from '@kubewright/api'
import { goQuote, KubewrightError } from '@kubewright/base'

/** The server does not serve the kind or resource. Its code is `KW_NO_MATCH`. */
export class NoMatchError extends KubewrightError {
  static {
    Object.defineProperty(NoMatchError.prototype, 'name', { value: 'NoMatchError', configurable: true })
  }

  constructor(message: string) {
    super('KW_NO_MATCH', message)
  }

  /** The message of apimachinery's NoKindMatchError. */
  static kind(gvk: GroupVersionKind): NoMatchError {
    const version = formatGroupVersion(gvk)
    return new NoMatchError(`no matches for kind ${goQuote(gvk.kind)} in version ${goQuote(version)}`)
  }

  /** The message of apimachinery's NoResourceMatchError. */
  static resource({ group, version, resource }: GroupVersionResource): NoMatchError {
    return new NoMatchError(`no matches for ${group}/${version}, Resource=${resource}`)
  }
}
