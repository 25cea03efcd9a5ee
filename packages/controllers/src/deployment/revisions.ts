import { annotationOf, type HasMeta, lastAppliedAnnotation } from '@kubewright/api'
import type { Deployment, ReplicaSet } from '@kubewright/k8s'
import { rolloutLimits, wantedOf } from './rollout-limits.ts'

/** Where the number of a roll-out is kept, on deployments and their replica sets. */
export const revisionAnnotation = 'deployment.kubernetes.io/revision'
/** Where a replica set keeps the numbers of earlier roll-outs that it served. */
const revisionHistoryAnnotation = 'deployment.kubernetes.io/revision-history'
/** What the deployment wanted when the replica set was last scaled. */
export const desiredReplicasAnnotation = 'deployment.kubernetes.io/desired-replicas'
/** What the deployment could have had at most when the replica set was last scaled. */
export const maxReplicasAnnotation = 'deployment.kubernetes.io/max-replicas'

const notCopied: ReadonlySet<string> = new Set([
  lastAppliedAnnotation,
  revisionAnnotation,
  revisionHistoryAnnotation,
  desiredReplicasAnnotation,
  maxReplicasAnnotation,
  'deprecated.deployment.rollback.to',
])

// Keeps the annotation to about a hundred numbers.
const historyLimit = 2000

/** The number of a roll-out; 0 when there is none, undefined when it is no number. */
export function revisionOf(object: HasMeta): number | undefined {
  const text = annotationOf(object, revisionAnnotation)
  if (text === undefined) return 0
  return /^[+-]?[0-9]+$/.test(text) ? Number(text) : undefined
}

/** The highest number among the replica sets. */
export const maxRevision = (sets: readonly ReplicaSet[]): number =>
  Math.max(0, ...sets.map((set) => revisionOf(set) ?? 0))

/** The annotations that say what a replica set was last scaled for. */
export function replicasAnnotations(deployment: Deployment): Record<string, string> {
  const wanted = wantedOf(deployment)
  return {
    [desiredReplicasAnnotation]: String(wanted),
    [maxReplicasAnnotation]: String(wanted + rolloutLimits(deployment).maxSurge),
  }
}

/**
 * The annotations that the replica set of the deployment's template should have as roll-out number `revision`: those of the
 * deployment, the number, and the numbers it had before if it is being rolled back to.
 */
export function newSetAnnotations(
  deployment: Deployment,
  current: Readonly<Record<string, string>> | undefined,
  revision: number,
): Record<string, string> {
  const annotations: Record<string, string> = { ...current }
  for (const [key, value] of Object.entries(deployment.metadata.annotations ?? {})) {
    if (!notCopied.has(key)) annotations[key] = value
  }
  const before = annotations[revisionAnnotation]
  if (before !== undefined && !/^[+-]?[0-9]+$/.test(before)) return annotations
  if (Number(before ?? 0) >= revision) return annotations
  annotations[revisionAnnotation] = String(revision)
  if (before !== undefined) {
    const history = appendHistory(annotations[revisionHistoryAnnotation], before)
    if (history !== undefined) annotations[revisionHistoryAnnotation] = history
  }
  return annotations
}

function appendHistory(history: string | undefined, revision: string): string | undefined {
  const numbers = history ? history.split(',') : []
  numbers.push(revision)
  while (numbers.join(',').length > historyLimit && numbers.length > 1) numbers.shift()
  return numbers.join(',')
}
