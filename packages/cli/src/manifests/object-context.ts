import type { Manifest, Naming } from './manifest.ts'
import type { ResolvedOptions } from './manifest-options.ts'
import type { OperatorDescription } from './operator-description.ts'

/** What every object of an installation is made from. */
export interface ObjectContext {
  readonly operator: OperatorDescription
  readonly options: ResolvedOptions
  readonly naming: Naming
}

/** The first word of a group, which tells it from the others of the operator; all of it where that does not. */
export function shortGroup({ resources }: Pick<OperatorDescription, 'resources'>, group: string): string {
  const first = group.split('.')[0]!
  const isShared = resources.some(({ crd }) => crd.spec.group !== group && crd.spec.group.split('.')[0] === first)
  return isShared ? group : first
}

/** The labels of everything that belongs to an operator. */
export function labelsOf({ operator }: ObjectContext): Record<string, string> {
  return { 'app.kubernetes.io/managed-by': 'kubewright', 'app.kubernetes.io/name': operator.name }
}

/** What selects the pods of the operator. */
export function podLabels({ operator }: ObjectContext): Record<string, string> {
  return { 'app.kubernetes.io/name': operator.name, 'control-plane': 'controller-manager' }
}

/** The metadata of an object without a namespace. */
export function clusterMeta(context: ObjectContext, name: string): Manifest['metadata'] {
  return { labels: labelsOf(context), name: `${context.naming.prefix}${name}` }
}

/** The metadata of an object beside the operator. */
export function ownMeta(context: ObjectContext, name: string): Manifest['metadata'] & { readonly namespace: string } {
  return { ...clusterMeta(context, name), namespace: context.naming.namespace }
}
