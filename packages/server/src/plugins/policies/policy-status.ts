import { isNotFound } from '@kubewright/api'
import type * as admission from '@kubewright/k8s/admissionregistration/v1'
import type { ServerParts } from '../../api-server.ts'
import { systemContext } from '../../request/system-context.ts'
import type { MutableObject } from '../../resource/object.ts'
import type { StoredObject } from '../../resource/stored-object.ts'
import { typeCheckPolicy } from './type-check-policy.ts'

const manager = 'validatingadmissionpolicy-status'

/**
 * Keeps the status of ValidatingAdmissionPolicies up to date with what type checking says about them, until disposed. It is part of
 * kube-controller-manager in other clusters; a server without controllers runs well without it.
 */
export async function startPolicyTypeChecking(parts: ServerParts): Promise<AsyncDisposable> {
  const resource = parts.resources.find('admissionregistration.k8s.io', 'v1', 'validatingadmissionpolicies')
  if (!resource) throw new Error('Cannot check ValidatingAdmissionPolicies: they are not served')
  const cache = await parts.registry.feed.cache(resource.storage.prefix)
  const stop = new AbortController()

  const reconcile = async ({ object }: StoredObject): Promise<void> => {
    const { name = '', generation = 0 } = object.metadata
    const { observedGeneration = 0 } = (object['status'] ?? {}) as admission.ValidatingAdmissionPolicyStatus
    if (generation <= observedGeneration) return
    const warnings = typeCheckPolicy((object['spec'] ?? {}) as admission.ValidatingAdmissionPolicySpec, parts.resources)
    const typeChecking = warnings.length > 0 ? { expressionWarnings: warnings } : {}
    const status = { observedGeneration: generation, typeChecking }
    const { apiVersion, kind } = resource.kind
    const context = systemContext(resource, { manager, namespace: '', name, verb: 'patch', now: parts.clock.now() })
    const endpoint = parts.dispatcher.endpoint(resource, 'status')
    await parts.registry.update(
      endpoint.scope(context, { dryRun: false }),
      name,
      async (old) => {
        const config = { apiVersion, kind, metadata: { name }, status }
        const options = { manager, now: parts.registry.timestamp(), force: true }
        return (await endpoint.fieldManager.apply(old, config, options)).object as MutableObject
      },
      async () => undefined,
    )
  }
  const run = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      const changed = cache.changed(stop.signal)
      for (const stored of cache.list(cache.prefix)) {
        try {
          await reconcile(stored)
        } catch (error) {
          // A policy that is gone needs nothing; others are looked at again after the next change.
          if (!isNotFound(error)) {
            parts.log.error(error, 'Cannot check ValidatingAdmissionPolicy', { name: stored.object.metadata.name })
          }
        }
      }
      await changed
    }
  }
  const running = run()
  return {
    [Symbol.asyncDispose]: async () => {
      stop.abort()
      await running
    },
  }
}
