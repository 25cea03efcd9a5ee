import type { PolicyRule } from '@kubewright/k8s/rbac/v1'
import type { ManageCertificatesOptions } from './manage-certificates.ts'

/** The permissions that an operator needs to manage its certificates, by the scope in which they are granted. */
export interface CertificateRules {
  /** In the whole cluster. */
  readonly cluster: readonly PolicyRule[]
  /** In the namespace of the Secret. */
  readonly namespaced: readonly PolicyRule[]
}

/** The minimal permissions for managing certificates, restricted to object names where possible. */
export function certificateRules({
  secret,
  targets,
}: Pick<ManageCertificatesOptions, 'secret' | 'targets'>): CertificateRules {
  const { mutating = [], validating = [], crds = [] } = targets
  const rule = (apiGroup: string, resource: string, names: readonly string[]): PolicyRule[] =>
    names.length === 0
      ? []
      : [{ apiGroups: [apiGroup], resourceNames: [...names], resources: [resource], verbs: ['get', 'patch', 'watch'] }]
  return {
    cluster: [
      ...rule('admissionregistration.k8s.io', 'mutatingwebhookconfigurations', mutating),
      ...rule('admissionregistration.k8s.io', 'validatingwebhookconfigurations', validating),
      ...rule('apiextensions.k8s.io', 'customresourcedefinitions', crds),
    ],
    namespaced: [
      // RBAC cannot restrict create requests by name.
      { apiGroups: [''], resources: ['secrets'], verbs: ['create'] },
      { apiGroups: [''], resourceNames: [secret.name], resources: ['secrets'], verbs: ['get', 'update'] },
    ],
  }
}
