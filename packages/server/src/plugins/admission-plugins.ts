import type { Clock, Logger, Random } from '@kubewright/base'
import type { AdmissionPlugin } from '../admission/admission.ts'
import type { Authorizer } from '../auth/authorizer.ts'
import { terminatingDefinitions } from '../crd/crd-registrar.ts'
import type { DiscoveryIndex } from '../discovery/discovery-index.ts'
import type { WebhookClient } from '../outgoing/webhook-client.ts'
import type { ObjectAccess } from '../registry/object-access.ts'
import { ObjectLookup } from '../registry/object-lookup.ts'
import type { SystemWriter } from '../verbs/write/system-writer.ts'
import { alwaysPullImages } from './always-pull-images.ts'
import { certificateApproval, certificateSigning, certificateSubjectRestriction } from './certificates.ts'
import { defaultIngressClass } from './default-ingress-class.ts'
import { defaultStorageClass } from './default-storage-class.ts'
import { defaultTolerationSeconds } from './default-toleration-seconds.ts'
import { denyServiceExternalIps } from './deny-service-external-ips.ts'
import { limitRanger } from './limit-ranger.ts'
import { namespaceLifecycle } from './namespace-lifecycle.ts'
import { nodeRestriction } from './node-restriction/node-restriction.ts'
import { ownerReferencesPermissionEnforcement } from './owner-references-permission-enforcement.ts'
import { persistentVolumeClaimResize } from './persistent-volume-claim-resize.ts'
import { podPriority } from './pod-priority.ts'
import { podSecurity } from './pod-security/pod-security.ts'
import { podTopologyLabels } from './pod-topology-labels.ts'
import { mutatingPolicies } from './policies/mutating-policies.ts'
import { validatingPolicies } from './policies/validating-policies.ts'
import { quotaWriter } from './quota/quota-writer.ts'
import { resourceQuota } from './quota/resource-quota.ts'
import { runtimeClass } from './runtime-class.ts'
import { serviceAccount } from './service-account.ts'
import { storageObjectInUseProtection } from './storage-object-in-use-protection.ts'
import { taintNodesByCondition } from './taint-nodes-by-condition.ts'
import { mutatingWebhooks } from './webhooks/mutating-webhooks.ts'
import { validatingWebhooks } from './webhooks/validating-webhooks.ts'

/** The plugins that are off by default, by their names in kube-apiserver's `--enable-admission-plugins`. */
export const optionalAdmissionPlugins = [
  'AlwaysPullImages',
  'OwnerReferencesPermissionEnforcement',
  'DenyServiceExternalIPs',
] as const

/** The name of an admission plugin that is off by default. */
export type OptionalAdmissionPlugin = (typeof optionalAdmissionPlugins)[number]

/** The plugins that run by default, by their names in kube-apiserver's `--disable-admission-plugins`. */
export const defaultAdmissionPlugins = [
  'NamespaceLifecycle',
  'LimitRanger',
  'ServiceAccount',
  'NodeRestriction',
  'TaintNodesByCondition',
  'PodSecurity',
  'Priority',
  'DefaultTolerationSeconds',
  'DefaultStorageClass',
  'StorageObjectInUseProtection',
  'PersistentVolumeClaimResize',
  'RuntimeClass',
  'CertificateApproval',
  'CertificateSigning',
  'CertificateSubjectRestriction',
  'DefaultIngressClass',
  'PodTopologyLabels',
  'MutatingAdmissionPolicy',
  'MutatingAdmissionWebhook',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionWebhook',
  'ResourceQuota',
] as const

/** The parts of the server that admission plugins use. */
export interface AdmissionPluginParts extends ObjectAccess {
  /** Writes the usage of resource quotas. */
  readonly writer: SystemWriter
  readonly authorizer: Authorizer
  /** Calls admission webhooks. */
  readonly webhooks: WebhookClient
  /** Finds the resources of owner references, also those of extension servers. */
  readonly discovery: Pick<DiscoveryIndex, 'find'>
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
}

/**
 * All admission plugins in the order in which they run, which is kube-apiserver's (pkg/kubeapiserver/options/plugins.go). `enabled` names
 * the optional ones to include.
 */
export function admissionPlugins(
  parts: AdmissionPluginParts,
  enabled: readonly OptionalAdmissionPlugin[] = [],
): readonly AdmissionPlugin[] {
  const { authorizer, clock, random, writer } = parts
  const lookup = new ObjectLookup(parts)
  const extensible = { ...parts, client: parts.webhooks, lookup }
  const optional = (name: OptionalAdmissionPlugin, create: () => AdmissionPlugin): AdmissionPlugin[] =>
    enabled.includes(name) ? [create()] : []
  return [
    // kube-apiserver checks this before it calls admission.
    terminatingDefinitions,
    namespaceLifecycle({ lookup, clock }),
    limitRanger(lookup),
    serviceAccount({ lookup, clock, random }),
    nodeRestriction({ lookup, authorizer }),
    taintNodesByCondition,
    ...optional('AlwaysPullImages', () => alwaysPullImages),
    podSecurity(lookup),
    podPriority(lookup),
    defaultTolerationSeconds,
    defaultStorageClass(lookup),
    storageObjectInUseProtection,
    ...optional('OwnerReferencesPermissionEnforcement', () => ownerReferencesPermissionEnforcement(parts)),
    persistentVolumeClaimResize(lookup),
    runtimeClass(lookup),
    certificateApproval(authorizer),
    certificateSigning(authorizer),
    certificateSubjectRestriction,
    defaultIngressClass(lookup),
    ...optional('DenyServiceExternalIPs', () => denyServiceExternalIps),
    podTopologyLabels(lookup),
    // Without the kind, as in older releases, each request would look for it.
    ...(hasMutatingPolicies(parts) ? [mutatingPolicies(extensible)] : []),
    mutatingWebhooks(extensible),
    validatingPolicies(extensible),
    validatingWebhooks(extensible),
    // Quota is last, so that it counts what is stored.
    resourceQuota({ lookup, clock, writeUsed: quotaWriter(writer) }),
  ]
}

function hasMutatingPolicies({ resources }: AdmissionPluginParts): boolean {
  return resources.find('admissionregistration.k8s.io', 'v1', 'mutatingadmissionpolicies') !== undefined
}
