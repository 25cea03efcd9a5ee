import { KubewrightError, type Logger } from '@kubewright/base'
import type * as admission from '@kubewright/k8s/admissionregistration/v1'
import type { ObjectAccess } from '../../registry/object-access.ts'
import type { StoredObject } from '../../resource/stored-object.ts'
import { reconcileCached } from '../../verbs/reconcile-cached.ts'
import type { SystemWriter } from '../../verbs/write/system-writer.ts'
import { typeCheckPolicy } from './type-check-policy.ts'

const manager = 'validatingadmissionpolicy-status'

/** The parts of the server that {@link startPolicyTypeChecking} uses. */
export interface PolicyTypeCheckingParts extends ObjectAccess {
  readonly writer: SystemWriter
  readonly log: Logger
}

/**
 * Maintains the type checking status of ValidatingAdmissionPolicies until disposed. In other clusters kube-controller-manager does
 * this; a server without controllers does not need it.
 */
export async function startPolicyTypeChecking(parts: PolicyTypeCheckingParts): Promise<AsyncDisposable> {
  const resource = parts.resources.find('admissionregistration.k8s.io', 'v1', 'validatingadmissionpolicies')
  if (!resource)
    throw new KubewrightError(
      'KW_SERVER_CONFIG',
      'Cannot check ValidatingAdmissionPolicies: the server does not serve validatingadmissionpolicies',
    )
  const reconcile = async ({ object }: StoredObject): Promise<void> => {
    const { name = '', generation = 0 } = object.metadata
    const { observedGeneration = 0 } = (object['status'] ?? {}) as admission.ValidatingAdmissionPolicyStatus
    if (generation <= observedGeneration) return
    const warnings = typeCheckPolicy((object['spec'] ?? {}) as admission.ValidatingAdmissionPolicySpec, parts.resources)
    const typeChecking = warnings.length > 0 ? { expressionWarnings: warnings } : {}
    const status = { observedGeneration: generation, typeChecking }
    await parts.writer.apply({ resource, subresource: 'status', name }, () => ({ status }), manager)
  }
  return reconcileCached(parts, { resource, reconcile, failure: 'Failed to check a ValidatingAdmissionPolicy' })
}
