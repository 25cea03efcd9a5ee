import type { AdmissionPlugin } from '../admission/admission.ts'
import type { ServerParts } from '../api-server.ts'
import { ObjectLookup } from '../registry/object-lookup.ts'
import { defaultIngressClass } from './default-ingress-class.ts'
import { defaultStorageClass } from './default-storage-class.ts'
import { defaultTolerationSeconds } from './default-toleration-seconds.ts'
import { limitRanger } from './limit-ranger.ts'
import { namespaceLifecycle } from './namespace-lifecycle.ts'
import { persistentVolumeClaimResize } from './persistent-volume-claim-resize.ts'
import { podPriority } from './pod-priority.ts'
import { podSecurity } from './pod-security/pod-security.ts'
import { podTopologyLabels } from './pod-topology-labels.ts'
import { quotaWriter } from './quota/quota-writer.ts'
import { resourceQuota } from './quota/resource-quota.ts'
import { runtimeClass } from './runtime-class.ts'
import { serviceAccount } from './service-account.ts'
import { storageObjectInUseProtection } from './storage-object-in-use-protection.ts'
import { taintNodesByCondition } from './taint-nodes-by-condition.ts'

/**
 * The plugins that a kube-apiserver runs unless told otherwise, in its order (kubeapiserver/options/plugins.go). Those about
 * certificates come with authorization, and webhooks and policies with their own parts.
 */
export function builtinAdmission(
  parts: Pick<ServerParts, 'resources' | 'registry' | 'dispatcher' | 'clock' | 'random'>,
): AdmissionPlugin[] {
  const lookup = new ObjectLookup(parts)
  const { clock, random } = parts
  return [
    namespaceLifecycle({ lookup, clock }),
    limitRanger(lookup),
    serviceAccount({ lookup, clock, random }),
    taintNodesByCondition,
    podSecurity(lookup),
    podPriority(lookup),
    defaultTolerationSeconds,
    defaultStorageClass(lookup),
    storageObjectInUseProtection,
    persistentVolumeClaimResize(lookup),
    runtimeClass(lookup),
    defaultIngressClass(lookup),
    podTopologyLabels(lookup),
    resourceQuota({ lookup, clock, writeUsed: quotaWriter(parts) }),
  ]
}
