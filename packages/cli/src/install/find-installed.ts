import { type ApiClient, allNamespaces, type DynamicKind, type DynamicObject, NoMatchError } from '@kubewright/client'
import type { Manifest } from '../manifests/manifest.ts'
import { installLabel, kindOf } from './installed-object.ts'

/** An object that an earlier installation made. */
export interface InstalledObject {
  readonly kind: DynamicKind
  readonly object: DynamicObject
}

/** The kinds of objects that installations have, in the order in which they are taken away: first what others depend on. */
export const installedKinds: readonly Pick<Manifest, 'apiVersion' | 'kind'>[] = Object.freeze([
  { apiVersion: 'admissionregistration.k8s.io/v1', kind: 'MutatingWebhookConfiguration' },
  { apiVersion: 'admissionregistration.k8s.io/v1', kind: 'ValidatingWebhookConfiguration' },
  { apiVersion: 'monitoring.coreos.com/v1', kind: 'ServiceMonitor' },
  { apiVersion: 'monitoring.coreos.com/v1', kind: 'PrometheusRule' },
  { apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy' },
  { apiVersion: 'apps/v1', kind: 'Deployment' },
  { apiVersion: 'cert-manager.io/v1', kind: 'Certificate' },
  { apiVersion: 'cert-manager.io/v1', kind: 'Issuer' },
  { apiVersion: 'v1', kind: 'Service' },
  { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRoleBinding' },
  { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'RoleBinding' },
  { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole' },
  { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role' },
  { apiVersion: 'v1', kind: 'ServiceAccount' },
])

/** The kind of definitions: taking one away takes all its objects away. */
export const definitionKind: Pick<Manifest, 'apiVersion' | 'kind'> = Object.freeze({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
})

/** The kind of namespaces: taking one away takes everything in it away. */
export const namespaceKind: Pick<Manifest, 'apiVersion' | 'kind'> = Object.freeze({
  apiVersion: 'v1',
  kind: 'Namespace',
})

/** What was installed for an operator, among some kinds; kinds that the cluster does not know have nothing. */
export async function findInstalled(
  client: ApiClient,
  operator: string,
  kinds: readonly Pick<Manifest, 'apiVersion' | 'kind'>[],
  signal: AbortSignal,
): Promise<InstalledObject[]> {
  const found: InstalledObject[] = []
  for (const each of kinds) {
    let kind: DynamicKind
    try {
      kind = await kindOf(client, each, signal)
    } catch (error) {
      if (error instanceof NoMatchError) continue
      throw error
    }
    const labels = { [installLabel]: operator }
    const objects = await client.list(kind, { namespace: allNamespaces, labels, signal })
    // Items of lists say neither.
    found.push(...objects.map((object) => ({ kind, object: { ...object, ...each } })))
  }
  return found
}

/** Those that an installation does not have any more. */
export function withoutPresent(found: readonly InstalledObject[], present: readonly Manifest[]): InstalledObject[] {
  const names = new Set(present.map(nameOf))
  return found.filter(({ object }) => !names.has(nameOf(object)))
}

function nameOf({ kind, metadata }: Pick<Manifest | DynamicObject, 'kind' | 'metadata'>): string {
  return `${kind} ${metadata.namespace ?? ''}/${metadata.name}`
}
