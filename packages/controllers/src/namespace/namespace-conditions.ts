import { formatRFC3339, instantFromMillis } from '@kubewright/api'

/** A condition of a namespace. */
export interface NamespaceCondition {
  readonly type: string
  readonly status: string
  readonly reason?: string | undefined
  readonly message?: string | undefined
  readonly lastTransitionTime?: string | undefined
}

/** The remaining objects of a namespace, and the errors of a deletion round. */
export interface NamespaceRemains {
  /** Counts by resource and group, such as `configmaps.` and `deployments.apps`. */
  readonly objects: ReadonlyMap<string, number>
  readonly finalizers: ReadonlyMap<string, number>
  readonly discoveryError?: string | undefined
  readonly contentErrors: readonly string[]
}

/** The conditions without problems, in the order in which they are added. */
const inOrder: readonly { readonly type: string; readonly reason: string; readonly message: string }[] = [
  {
    type: 'NamespaceDeletionDiscoveryFailure',
    reason: 'ResourcesDiscovered',
    message: 'All resources successfully discovered',
  },
  {
    type: 'NamespaceDeletionGroupVersionParsingFailure',
    reason: 'ParsedGroupVersions',
    message: 'All legacy kube types successfully parsed',
  },
  {
    type: 'NamespaceDeletionContentFailure',
    reason: 'ContentDeleted',
    message: 'All content successfully deleted, may be waiting on finalization',
  },
  { type: 'NamespaceContentRemaining', reason: 'ContentRemoved', message: 'All content successfully removed' },
  {
    type: 'NamespaceFinalizersRemaining',
    reason: 'ContentHasNoFinalizers',
    message: 'All content-preserving finalizers finished',
  },
]

/** The conditions of a namespace after a deletion round; undefined when they are unchanged. */
export function namespaceConditions(
  before: readonly NamespaceCondition[],
  remains: NamespaceRemains,
  now: number,
): NamespaceCondition[] | undefined {
  const problems = problemsOf(remains)
  const conditions = [...before]
  let changed = false
  for (const { type, ...good } of inOrder) {
    const wrong = problems.get(type)
    const wanted = { type, status: wrong ? 'True' : 'False', ...(wrong ?? good) }
    const at = conditions.findIndex((condition) => condition.type === type)
    const old = conditions[at]
    const time = formatRFC3339(instantFromMillis(now))
    if (old === undefined) {
      conditions.push({ ...wanted, lastTransitionTime: time })
    } else if (old.status !== wanted.status || old.reason !== wanted.reason || old.message !== wanted.message) {
      conditions[at] = { ...old, ...wanted, ...(old.status === wanted.status ? {} : { lastTransitionTime: time }) }
    } else {
      continue
    }
    changed = true
  }
  return changed ? conditions : undefined
}

function problemsOf(remains: NamespaceRemains): Map<string, { reason: string; message: string }> {
  const { objects, finalizers, discoveryError, contentErrors } = remains
  const problems = new Map<string, { reason: string; message: string }>()
  const add = (type: string, reason: string, message: string): unknown => problems.set(type, { reason, message })
  if (discoveryError !== undefined) add('NamespaceDeletionDiscoveryFailure', 'DiscoveryFailed', discoveryError)
  if (contentErrors.length > 0) {
    const texts = [...contentErrors].sort().join(', ')
    const message = `Failed to delete all resource types, ${contentErrors.length} remaining: ${texts}`
    add('NamespaceDeletionContentFailure', 'ContentDeletionFailed', message)
  }
  if (objects.size > 0) {
    const texts = [...objects].map(([name, count]) => `${name} has ${count} resource instances`)
    const message = `Some resources are remaining: ${texts.sort().join(', ')}`
    add('NamespaceContentRemaining', 'SomeResourcesRemain', message)
  }
  if (finalizers.size > 0) {
    const texts = [...finalizers].map(([name, count]) => `${name} in ${count} resource instances`)
    const message = `Some content in the namespace has finalizers remaining: ${texts.sort().join(', ')}`
    add('NamespaceFinalizersRemaining', 'SomeFinalizersRemain', message)
  }
  return problems
}
