import { mutatingAdmissionPolicies } from './admissionregistration/mutating-admission-policy/mutating-admission-policy.ts'
import { mutatingAdmissionPolicyBindings } from './admissionregistration/mutating-admission-policy/mutating-admission-policy-binding.ts'
import { validatingAdmissionPolicies } from './admissionregistration/validating-admission-policy/validating-admission-policy.ts'
import { validatingAdmissionPolicyBindings } from './admissionregistration/validating-admission-policy-binding/validating-admission-policy-binding.ts'
import {
  mutatingWebhookConfigurations,
  validatingWebhookConfigurations,
} from './admissionregistration/webhook-configuration/webhook-configuration.ts'
import { apiServices } from './apiregistration/api-service/api-service.ts'
import { controllerRevisions } from './apps/controller-revision/controller-revision.ts'
import { daemonSets } from './apps/daemon-set/daemon-set.ts'
import { deployments } from './apps/deployment/deployment.ts'
import { replicaSets } from './apps/replica-set/replica-set.ts'
import { statefulSets } from './apps/stateful-set/stateful-set.ts'
import { selfSubjectReviews } from './authentication/self-subject-review/self-subject-review.ts'
import { tokenReviews } from './authentication/token-review/token-review.ts'
import {
  localSubjectAccessReviews,
  selfSubjectAccessReviews,
  subjectAccessReviews,
} from './authorization/access-review/access-review.ts'
import { selfSubjectRulesReviews } from './authorization/self-subject-rules-review/self-subject-rules-review.ts'
import {
  horizontalPodAutoscalers,
  horizontalPodAutoscalersV1,
} from './autoscaling/horizontal-pod-autoscaler/horizontal-pod-autoscaler.ts'
import { cronJobs } from './batch/cron-job/cron-job.ts'
import { jobs } from './batch/job/job.ts'
import { certificateSigningRequests } from './certificates/certificate-signing-request/certificate-signing-request.ts'
import { clusterTrustBundles } from './certificates/cluster-trust-bundle/cluster-trust-bundle.ts'
import { podCertificateRequests } from './certificates/pod-certificate-request/pod-certificate-request.ts'
import { leases } from './coordination/lease/lease.ts'
import { bindings } from './core/binding/binding.ts'
import { componentStatuses } from './core/component-status/component-status.ts'
import { configMaps } from './core/config-map/config-map.ts'
import { endpoints } from './core/endpoints/endpoints.ts'
import { coreEvents, groupEvents } from './core/event/event.ts'
import { limitRanges } from './core/limit-range/limit-range.ts'
import { namespaces } from './core/namespace/namespace.ts'
import { nodes } from './core/node/node.ts'
import { persistentVolumes } from './core/persistent-volume/persistent-volume.ts'
import { persistentVolumeClaims } from './core/persistent-volume-claim/persistent-volume-claim.ts'
import { pods } from './core/pod/pod.ts'
import { podTemplates } from './core/pod-template/pod-template.ts'
import { replicationControllers } from './core/replication-controller/replication-controller.ts'
import { resourceQuotas } from './core/resource-quota/resource-quota.ts'
import { secrets } from './core/secret/secret.ts'
import { services } from './core/service/service.ts'
import { serviceAccounts } from './core/service-account/service-account.ts'
import type { BuiltinDefinition } from './define-builtin.ts'
import { endpointSlices } from './discovery/endpoint-slice/endpoint-slice.ts'
import { flowSchemas } from './flowcontrol/flow-schema/flow-schema.ts'
import { priorityLevelConfigurations } from './flowcontrol/priority-level-configuration/priority-level-configuration.ts'
import { ingresses } from './networking/ingress/ingress.ts'
import { ingressClasses } from './networking/ingress-class/ingress-class.ts'
import { ipAddresses } from './networking/ip-address/ip-address.ts'
import { networkPolicies } from './networking/network-policy/network-policy.ts'
import { serviceCidrs } from './networking/service-cidr/service-cidr.ts'
import { runtimeClasses } from './node/runtime-class/runtime-class.ts'
import { podDisruptionBudgets } from './policy/pod-disruption-budget/pod-disruption-budget.ts'
import { clusterRoles, roles } from './rbac/role/role.ts'
import { clusterRoleBindings, roleBindings } from './rbac/role-binding/role-binding.ts'
import { deviceClasses } from './resource/device-class/device-class.ts'
import { deviceTaintRules } from './resource/device-taint-rule/device-taint-rule.ts'
import { resourceClaims, resourceClaimTemplates } from './resource/resource-claim/resource-claim.ts'
import { resourceSlices } from './resource/resource-slice/resource-slice.ts'
import { priorityClasses } from './scheduling/priority-class/priority-class.ts'
import { csiDrivers } from './storage/csi-driver/csi-driver.ts'
import { csiNodes } from './storage/csi-node/csi-node.ts'
import { csiStorageCapacities } from './storage/csi-storage-capacity/csi-storage-capacity.ts'
import { storageClasses } from './storage/storage-class/storage-class.ts'
import { volumeAttachments } from './storage/volume-attachment/volume-attachment.ts'
import { volumeAttributesClasses } from './storage/volume-attributes-class/volume-attributes-class.ts'
import { storageVersionMigrations } from './storagemigration/storage-version-migration/storage-version-migration.ts'

/**
 * The definitions of all built-in resources, in alphabetical order of group and resource. A resource of discovery that is missing here has
 * the default behaviour. The room `crd` defines CustomResourceDefinitions.
 */
export const builtins: readonly BuiltinDefinition[] = [
  bindings,
  componentStatuses,
  configMaps,
  endpoints,
  coreEvents,
  limitRanges,
  namespaces,
  nodes,
  persistentVolumeClaims,
  persistentVolumes,
  pods,
  podTemplates,
  replicationControllers,
  resourceQuotas,
  secrets,
  serviceAccounts,
  services,
  mutatingAdmissionPolicies,
  mutatingAdmissionPolicyBindings,
  mutatingWebhookConfigurations,
  validatingAdmissionPolicies,
  validatingAdmissionPolicyBindings,
  validatingWebhookConfigurations,
  apiServices,
  controllerRevisions,
  daemonSets,
  deployments,
  replicaSets,
  statefulSets,
  selfSubjectReviews,
  tokenReviews,
  localSubjectAccessReviews,
  selfSubjectAccessReviews,
  selfSubjectRulesReviews,
  subjectAccessReviews,
  horizontalPodAutoscalers,
  horizontalPodAutoscalersV1,
  cronJobs,
  jobs,
  certificateSigningRequests,
  clusterTrustBundles,
  podCertificateRequests,
  leases,
  endpointSlices,
  groupEvents,
  flowSchemas,
  priorityLevelConfigurations,
  ingressClasses,
  ingresses,
  ipAddresses,
  networkPolicies,
  serviceCidrs,
  runtimeClasses,
  podDisruptionBudgets,
  clusterRoleBindings,
  clusterRoles,
  roleBindings,
  roles,
  deviceClasses,
  deviceTaintRules,
  resourceClaims,
  resourceClaimTemplates,
  resourceSlices,
  priorityClasses,
  csiDrivers,
  csiNodes,
  csiStorageCapacities,
  storageClasses,
  volumeAttachments,
  volumeAttributesClasses,
  storageVersionMigrations,
]
