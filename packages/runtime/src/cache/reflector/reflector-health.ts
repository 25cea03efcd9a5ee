import {
  formatGroupResource,
  type GroupVersionResource,
  isForbidden,
  isMethodNotSupported,
  isNotFound,
  isTooManyRequests,
  isUnauthorized,
} from '@kubewright/api'
import { errorText } from '@kubewright/base'

/** How a reflector is doing. */
export interface ReflectorHealth {
  /** `starting` before the first list, `watching` while it follows changes, `failing` between failed tries. */
  readonly state: 'starting' | 'watching' | 'failing' | 'stopped'
  /** Wall time, in milliseconds since the epoch, since when it has been in this state. */
  readonly since: number
  /** Tries that failed since it was last watching. */
  readonly failures: number
  /** Why it is failing. */
  readonly message?: string
  /** What a person can do about it, where that is known. The reflector keeps trying and recovers by itself afterwards. */
  readonly cure?: string
  /** Present when it fails because the server does not serve the resource. */
  readonly missing?: true
}

/** What a reflector reflects, for messages. */
export interface ReflectedResource extends GroupVersionResource {
  /** Absent for all namespaces, or for a resource without them. */
  readonly namespace?: string
}

/** Says what failed and, where that is known, what can be done about it. */
export function describeFailure(
  error: unknown,
  verb: 'list' | 'watch',
  resource: ReflectedResource,
): { readonly message: string; readonly cure?: string; readonly missing?: true } {
  const name = formatGroupResource(resource)
  const where = resource.namespace === undefined ? '' : ` in namespace ${JSON.stringify(resource.namespace)}`
  const message = `Cannot ${verb} ${name}${where}: ${errorText(error)}`
  const cure = cureOf(error, name, resource)
  if (cure === undefined) return { message }
  return isNotFound(error) ? { message, cure, missing: true } : { message, cure }
}

function cureOf(error: unknown, name: string, resource: ReflectedResource): string | undefined {
  if (isForbidden(error)) {
    const role =
      resource.namespace === undefined ? 'ClusterRole' : `Role in namespace ${JSON.stringify(resource.namespace)}`
    return `Allow this client the verbs list and watch on ${name}, for instance with a ${role} and a binding to it`
  }
  if (isNotFound(error)) {
    return `Install what serves ${name} in version ${resource.version}, for instance its CustomResourceDefinition`
  }
  if (isUnauthorized(error)) return 'Check the credentials of this client: the server does not know it'
  if (isMethodNotSupported(error)) return `Do not cache ${name}: the server cannot list and watch it`
  if (isTooManyRequests(error)) return 'Wait, or raise the share of this client: the server is busy'
  return undefined
}
