import { parseGroupVersion, selectorFrom } from '@kubewright/api'
import { CaughtError } from '@kubewright/base'
import type * as admission from '@kubewright/k8s/admissionregistration/v1'
import type { ObjectAccess } from '../../registry/object-access.ts'
import { servedObjects } from '../../resource/conversion.ts'
import type { Resource } from '../../resource/resource.ts'

/** The resource of a policy's parameters; throws an Error when the kind does not exist. */
export function paramResource(
  { resources }: ObjectAccess,
  { apiVersion = '', kind = '' }: admission.ParamKind,
): Resource {
  const { group, version } = parseGroupVersion(apiVersion)
  const found = resources
    .groupVersions()
    .find((candidate) => candidate.group === group && candidate.version === version)
  for (const resource of found?.resources.values() ?? []) if (resource.kind.kind === kind) return resource
  throw new CaughtError(
    `failed to find resource referenced by paramKind: '${group === '' ? `/${version}` : apiVersion}, Kind=${kind}'`,
  )
}

/**
 * The parameters that a binding selects; the policy is evaluated once for each. Null stands for missing parameters
 * (admission/plugin/policy/generic, CollectParams). Throws an Error when parameters are missing and the binding denies that.
 */
export async function collectParams(
  { registry }: ObjectAccess,
  resource: Resource | undefined,
  ref: admission.ParamRef | undefined,
  requestNamespace: string,
): Promise<readonly (object | null)[]> {
  if (!resource || !ref) return [null]
  const namespaced = resource.kind.scope === 'Namespaced'
  const namespace = namespaced ? ref.namespace || requestNamespace : ''
  if (namespaced && namespace === '') {
    throw new CaughtError('cannot use namespaced paramRef in policy binding that matches cluster-scoped resources')
  }
  if (!namespaced && ref.namespace) {
    throw new CaughtError('paramRef.namespace must not be provided for a cluster-scoped `paramKind`')
  }
  const { prefix } = resource.storage
  const cache = await registry.feed.cache(prefix)
  let found = ref.name
    ? [cache.get(registry.keyOf(resource, namespace, ref.name))].flatMap((stored) => stored ?? [])
    : cache.list(namespaced ? `${prefix}${namespace}/` : prefix)
  if (!ref.name) {
    const selector = selectorFrom(ref.selector)
    found = found.filter(({ object }) => selector.matches(object.metadata.labels ?? {}))
  }
  if (found.length === 0 && ref.parameterNotFoundAction === 'Deny') {
    throw new CaughtError('no params found for policy binding with `Deny` parameterNotFoundAction')
  }
  return (await servedObjects(resource, found)).map((served) => served.copy())
}
