import type { Manifest, Naming } from './manifest.ts'
import type { ResolvedOptions } from './manifest-options.ts'
import type { OperatorDescription } from './operator-description.ts'

/** The input of all generated objects. */
export interface ObjectContext {
  readonly operator: OperatorDescription
  readonly options: ResolvedOptions
  readonly naming: Naming
}

/** The first label of a group if it is unique among the groups of the operator, else the whole group. */
export function shortGroup({ resources }: Pick<OperatorDescription, 'resources'>, group: string): string {
  const first = group.split('.')[0]!
  const isShared = resources.some(({ crd }) => crd.spec.group !== group && crd.spec.group.split('.')[0] === first)
  return isShared ? group : first
}

/** The labels of all objects of an operator. */
export function labelsOf({ operator }: ObjectContext): Record<string, string> {
  return { 'app.kubernetes.io/managed-by': 'kubewright', 'app.kubernetes.io/name': operator.name }
}

/** The labels that select the pods of the operator. */
export function podLabels({ operator }: ObjectContext): Record<string, string> {
  return { 'app.kubernetes.io/name': operator.name, 'control-plane': 'controller-manager' }
}

/** The metadata of a cluster-scoped object. */
export function clusterMeta(context: ObjectContext, name: string): Manifest['metadata'] {
  return { labels: labelsOf(context), name: `${context.naming.prefix}${name}` }
}

/** The metadata of an object in the namespace of the operator. */
export function ownMeta(context: ObjectContext, name: string): Manifest['metadata'] & { readonly namespace: string } {
  return { ...clusterMeta(context, name), namespace: context.naming.namespace }
}
