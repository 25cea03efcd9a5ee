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

/** The health of a reflector. */
export interface ReflectorHealth {
  /** `starting` before the first list, `watching` while it receives changes, `failing` between failed attempts. */
  readonly state: 'starting' | 'watching' | 'failing' | 'stopped'
  /** The wall time, in milliseconds since the epoch, at which this state began. */
  readonly since: number
  /** The number of failed attempts since it was last watching. */
  readonly failures: number
  /** Why it fails. */
  readonly message?: string | undefined
  /** What the user can do, if known. The reflector keeps retrying and recovers by itself afterwards. */
  readonly fix?: string | undefined
  /** Set when the server does not serve the resource. */
  readonly missing?: true | undefined
  /**
   * Set when the server answered the initial list from its cache, which may lag behind what clients have seen before. Streamed
   * initial states are never old.
   */
  readonly mayBeOld?: true | undefined
}

/** The resource of a reflector, for messages. */
export interface ReflectedResource extends GroupVersionResource {
  /** Absent for all namespaces and for cluster-scoped resources. */
  readonly namespace?: string | undefined
}

/** Describes a failure and, if known, its fix. */
export function describeFailure(
  error: unknown,
  verb: 'list' | 'watch',
  resource: ReflectedResource,
): { readonly message: string; readonly fix?: string | undefined; readonly missing?: true | undefined } {
  const name = formatGroupResource(resource)
  const where = resource.namespace === undefined ? '' : ` in namespace ${JSON.stringify(resource.namespace)}`
  const message = `Cannot ${verb} ${name}${where}: ${errorText(error)}`
  const fix = fixOf(error, name, resource)
  if (fix === undefined) return { message }
  return isNotFound(error) ? { message, fix, missing: true } : { message, fix }
}

function fixOf(error: unknown, name: string, resource: ReflectedResource): string | undefined {
  if (isForbidden(error)) {
    const role =
      resource.namespace === undefined ? 'ClusterRole' : `Role in namespace ${JSON.stringify(resource.namespace)}`
    return `Grant this client the verbs list and watch on ${name}, for example with a ${role} and a binding`
  }
  if (isNotFound(error)) {
    // Groups of custom resources are domains; the built-in ones of Kubernetes cannot be installed.
    const isBuiltIn = !resource.group.includes('.') || resource.group.endsWith('.k8s.io')
    const install = isBuiltIn ? '' : ' with npx kubewright install'
    return `Install the API that serves ${name} in version ${resource.version}, for example its CustomResourceDefinition${install}`
  }
  if (isUnauthorized(error)) return 'Check the credentials of this client: the server rejected them'
  if (isMethodNotSupported(error)) return `Do not cache ${name}: it does not support list and watch`
  if (isTooManyRequests(error)) return 'Wait, or raise the request limits of this client: the server is overloaded'
  return undefined
}
