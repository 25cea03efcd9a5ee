import { type ApiClient, allNamespaces, type DynamicKind, type DynamicObject, NoMatchError } from '@kubewright/client'
import type { Manifest } from '../manifests/manifest.ts'
import { installLabel, kindOf } from './installed-object.ts'

/** An object of an earlier installation. */
export interface InstalledObject {
  readonly kind: DynamicKind
  readonly object: DynamicObject
}

/** The kinds of objects of an installation, in the order of their removal: dependents before the objects that they need. */
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

/** The kind of CRDs. Removing a CRD removes all its objects. */
export const definitionKind: Pick<Manifest, 'apiVersion' | 'kind'> = Object.freeze({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
})

/** The kind of namespaces. Removing a namespace removes all objects in it. */
export const namespaceKind: Pick<Manifest, 'apiVersion' | 'kind'> = Object.freeze({
  apiVersion: 'v1',
  kind: 'Namespace',
})

/** Finds the installed objects of an operator, of the given kinds. Kinds that the cluster does not serve are skipped. */
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
    // Items of a list have neither apiVersion nor kind.
    found.push(...objects.map((object) => ({ kind, object: { ...object, ...each } })))
  }
  return found
}

/** The objects that are not part of the present installation. */
export function withoutPresent(found: readonly InstalledObject[], present: readonly Manifest[]): InstalledObject[] {
  const names = new Set(present.map(nameOf))
  return found.filter(({ object }) => !names.has(nameOf(object)))
}

function nameOf({ kind, metadata }: Pick<Manifest | DynamicObject, 'kind' | 'metadata'>): string {
  return `${kind} ${metadata.namespace ?? ''}/${metadata.name}`
}
