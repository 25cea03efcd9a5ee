import type { PolicyRule } from '@kubewright/k8s/rbac/v1'
import type { ManageCertificatesOptions } from './manage-certificates.ts'

/** What an operator must be allowed to do to look after its certificates. */
export interface CertificateRules {
  /** In the whole cluster. */
  readonly cluster: readonly PolicyRule[]
  /** In the namespace of the Secret. */
  readonly namespaced: readonly PolicyRule[]
}

/** The least that looking after certificates needs, by the names of the objects wherever that is possible. */
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
      // A name cannot be told of what does not exist yet.
      { apiGroups: [''], resources: ['secrets'], verbs: ['create'] },
      { apiGroups: [''], resourceNames: [secret.name], resources: ['secrets'], verbs: ['get', 'update'] },
    ],
  }
}
