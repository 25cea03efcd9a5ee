import { isApiError, isNotFound } from '@kubewright/api'
import type { ApiClient } from '@kubewright/client'
import { Namespace } from '@kubewright/k8s'
import { changed, type KeyController, kindSource } from '@kubewright/runtime'
import { defineBuiltinController } from '../workload/define-builtin-controller.ts'
import { delayed } from '../workload/delayed.ts'
import { emptyNamespace } from './empty-namespace.ts'
import { type NamespaceRemains, namespaceConditions } from './namespace-conditions.ts'

const finalizer = 'kubernetes'

/** The same as in kube-controller-manager: the other API servers observe the deletion meanwhile, and admit no further objects. */
const gracePeriod = '5s'

/**
 * Empties namespaces that are being deleted, reports obstacles in their conditions, and removes the finalizer at the
 * end.
 */
export const namespaceController: KeyController = defineBuiltinController({
  name: 'namespace-controller',
  kind: Namespace,
  // Not the status: the controller writes it in each round, and would start the next round at once.
  sources: [
    delayed(
      kindSource(Namespace, { predicates: [changed('metadata.deletionTimestamp', 'spec.finalizers')] }),
      gracePeriod,
    ),
  ],
  concurrency: 10,
  start: ({ cluster, clock }) => {
    // By the monotonic clock: the wall time of a deletion may be in the future.
    const since = new Map<string, number>()
    return async (name, { signal }) => {
      if (await terminate(cluster.api, name, clock.now(), signal)) {
        since.delete(name)
        return undefined
      }
      const now = clock.monotonic()
      const first = since.get(name) ?? now
      since.set(name, first)
      return { requeueAfter: patience(now - first) }
    }
  },
})

/** One round of a namespace. Resolves to whether nothing is left to do. */
async function terminate(api: ApiClient, name: string, now: number, signal: AbortSignal): Promise<boolean> {
  const namespace = await api.find(Namespace, name, { signal })
  if (namespace?.metadata.deletionTimestamp === undefined) return true
  if (!namespace.spec?.finalizers?.includes(finalizer)) return true
  const spec = { ...namespace.spec, finalizers: namespace.spec.finalizers.filter((entry) => entry !== finalizer) }
  const finalize = (current: Namespace, dryRun: boolean): Promise<string | undefined> =>
    readErrorOf(api.subresource(Namespace, 'finalize').update({ ...current, spec } as never, { signal, dryRun }))
  const report = async (current: Namespace, remains: NamespaceRemains): Promise<Namespace> => {
    const conditions = namespaceConditions(current.status?.conditions ?? [], remains, now)
    if (!conditions) return current
    const status = { phase: 'Terminating', conditions }
    return (await api.subresource(Namespace, 'status').patch(name, { status } as never, { signal })) as Namespace
  }
  const remains = await emptyNamespace(api, name, signal)
  try {
    // Lists leave out objects that the server cannot read, and the server then refuses to finalize the namespace. After a failed round, a dry
    // run tests this before the report. Otherwise the conditions would alternate, and each change would start the next round.
    const known = isEmpty(remains) && hasFailed(namespace) ? await finalize(namespace, true) : undefined
    if (known !== undefined) {
      await report(namespace, { ...remains, contentErrors: [known] })
      return false
    }
    const current = await report(namespace, remains)
    if (!isEmpty(remains)) return false
    const problem = await finalize(current, false)
    if (problem === undefined) return true
    await report(current, { ...remains, contentErrors: [problem] })
    return false
  } catch (error) {
    // The namespace is gone already.
    if (!isNotFound(error)) throw error
  }
  return true
}

/** The message of a server that cannot read an object of the namespace; undefined when the request succeeds. */
async function readErrorOf(request: Promise<unknown>): Promise<string | undefined> {
  try {
    await request
    return undefined
  } catch (error) {
    if (isApiError(error) && error.status.reason === 'StorageReadError') return error.message
    throw error
  }
}

/** Whether the last round reported that content could not be deleted. */
function hasFailed({ status }: Namespace): boolean {
  return (status?.conditions ?? []).some(
    (condition) => condition.type === 'NamespaceDeletionContentFailure' && condition.status === 'True',
  )
}

function isEmpty({ objects, contentErrors, discoveryError }: NamespaceRemains): boolean {
  return objects.size === 0 && contentErrors.length === 0 && discoveryError === undefined
}

/**
 * The delay until the next round: short at first, because most objects disappear quickly, then growing with the wait.
 */
function patience(waited: number): number {
  return Math.min(8000, Math.max(50, waited / 8))
}
