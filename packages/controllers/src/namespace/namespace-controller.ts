import { isNotFound, parseRFC3339 } from '@kubewright/api'
import type { ApiClient } from '@kubewright/client'
import { Namespace } from '@kubewright/k8s'
import { type KeyController, kindSource } from '@kubewright/runtime'
import { defineBuiltinController } from '../workload/define-builtin-controller.ts'
import { emptyNamespace } from './empty-namespace.ts'
import { type NamespaceRemains, namespaceConditions } from './namespace-conditions.ts'

const finalizer = 'kubernetes'

/**
 * Empties namespaces that are being deleted, reports obstacles in their conditions, and removes the finalizer at the
 * end.
 */
export const namespaceController: KeyController = defineBuiltinController({
  name: 'namespace-controller',
  kind: Namespace,
  sources: [kindSource(Namespace)],
  concurrency: 10,
  start:
    ({ cluster, clock }) =>
    (name, { signal }) =>
      terminate(cluster.api, name, clock.now(), signal),
})

async function terminate(
  api: ApiClient,
  name: string,
  now: number,
  signal: AbortSignal,
): Promise<{ requeueAfter: number } | undefined> {
  const namespace = await api.find(Namespace, name, { signal })
  const { deletionTimestamp } = namespace?.metadata ?? {}
  if (namespace === undefined || deletionTimestamp === undefined) return undefined
  if (!namespace.spec?.finalizers?.includes(finalizer)) return undefined
  const remains = await emptyNamespace(api, name, signal)
  const conditions = namespaceConditions(namespace.status?.conditions ?? [], remains, now)
  try {
    const current = conditions
      ? await api
          .subresource(Namespace, 'status')
          .patch(name, { status: { phase: 'Terminating', conditions } } as never, { signal })
      : namespace
    if (!isEmpty(remains)) return { requeueAfter: patience(now - millisOf(deletionTimestamp)) }
    const others = (namespace.spec.finalizers ?? []).filter((entry) => entry !== finalizer)
    const finalized = { ...(current as typeof namespace), spec: { ...namespace.spec, finalizers: others } }
    await api.subresource(Namespace, 'finalize').update(finalized as never, { signal })
  } catch (error) {
    // The namespace is gone already.
    if (!isNotFound(error)) throw error
  }
  return undefined
}

function isEmpty({ objects, contentErrors, discoveryError }: NamespaceRemains): boolean {
  return objects.size === 0 && contentErrors.length === 0 && discoveryError === undefined
}

/**
 * The delay until the next round: short at first, because most objects disappear quickly, then growing with the wait.
 */
function patience(waited: number): number {
  return Math.min(8000, Math.max(50, waited / 4))
}

function millisOf(time: string): number {
  return parseRFC3339(time).seconds * 1000
}
