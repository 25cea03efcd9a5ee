import { isMethodNotSupported, isNotFound, type KubeObject } from '@kubewright/api'
import { errorText } from '@kubewright/base'
import { type ApiClient, dynamicKind, metadataOnly, type ServedResource } from '@kubewright/client'
import type { NamespaceRemains } from './namespace-conditions.ts'

/**
 * Deletes all objects of a namespace and reports what remains. Pods go first: other resources wait until no pod is
 * left.
 */
export async function emptyNamespace(
  api: ApiClient,
  namespace: string,
  signal: AbortSignal,
): Promise<NamespaceRemains> {
  const remains = { objects: new Map<string, number>(), finalizers: new Map<string, number>() }
  const contentErrors: string[] = []
  const groups = await api.discovery.groups({ signal })
  const stale = groups.flatMap(({ name, versions }) =>
    versions.flatMap(({ version, stale }) =>
      stale ? [`${name}/${version}: stale GroupVersion discovery: ${name}/${version}`] : [],
    ),
  )
  const seen = new Set<string>()
  const resources: ServedResource[] = []
  for (const resource of groups.flatMap(({ versions }) => versions.flatMap((version) => version.resources))) {
    const name = `${resource.plural}.${resource.group}`
    if (resource.scope !== 'Namespaced' || !resource.verbs.includes('delete') || seen.has(name)) continue
    seen.add(name)
    resources.push(resource)
  }
  const isPods = ({ group, plural }: ServedResource): boolean => group === '' && plural === 'pods'
  const empty = async (resource: ServedResource): Promise<void> => {
    try {
      const left = await emptyResource(api, resource, namespace, signal)
      if (left.length > 0) remains.objects.set(`${resource.plural}.${resource.group}`, left.length)
      for (const { metadata } of left) {
        for (const finalizer of metadata.finalizers ?? []) {
          remains.finalizers.set(finalizer, (remains.finalizers.get(finalizer) ?? 0) + 1)
        }
      }
    } catch (error) {
      signal.throwIfAborted()
      contentErrors.push(errorText(error))
    }
  }
  for (const resource of resources.filter(isPods)) await empty(resource)
  if (remains.objects.size === 0) {
    await Promise.all(resources.filter((resource) => !isPods(resource)).map(empty))
  }
  const discoveryError =
    stale.length === 0
      ? undefined
      : `Discovery failed for some groups, ${stale.length} failing: unable to retrieve the complete list of server APIs: ${stale.join(', ')}`
  return { ...remains, discoveryError, contentErrors }
}

/** Deletes the objects of one resource; resolves to the remaining ones, as far as they can be listed. */
async function emptyResource(
  api: ApiClient,
  resource: ServedResource,
  namespace: string,
  signal: AbortSignal,
): Promise<readonly KubeObject[]> {
  const kind = metadataOnly(dynamicKind(resource))
  // Extension servers may list a verb in discovery and still reject it.
  const can = (verb: string): boolean => resource.verbs.includes(verb)
  const list = async (): Promise<readonly KubeObject[] | undefined> =>
    can('list') ? unlessRefused(api.list(kind, { namespace, signal })) : undefined
  const options = { propagationPolicy: 'Background', signal } as const
  const there = await list()
  // All remaining objects are being deleted already: there is nothing to do but wait.
  if (there?.every(({ metadata }) => metadata.deletionTimestamp !== undefined)) return there
  const removed = can('deletecollection')
    ? await unlessRefused(api.deleteCollection(kind, { namespace, ...options }).then(() => true))
    : undefined
  if (removed === undefined) {
    for (const { metadata } of there ?? []) {
      await unlessRefused(api.delete(kind, { name: metadata.name, namespace }, options))
    }
  }
  return (await list()) ?? []
}

/** The result of a request; undefined when the server does not have the resource or does not support the verb. */
async function unlessRefused<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer
  } catch (error) {
    if (isMethodNotSupported(error) || isNotFound(error)) return undefined
    throw error
  }
}
