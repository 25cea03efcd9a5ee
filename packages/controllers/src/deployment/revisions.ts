import { annotationOf, type HasMeta, lastAppliedAnnotation } from '@kubewright/api'
import type { Deployment, ReplicaSet } from '@kubewright/k8s'
import { rolloutLimits, wantedOf } from './rollout-limits.ts'

/** The annotation with the revision number, on deployments and their replica sets. */
export const revisionAnnotation = 'deployment.kubernetes.io/revision'
/** The annotation with the earlier revision numbers of a replica set that was rolled back to. */
const revisionHistoryAnnotation = 'deployment.kubernetes.io/revision-history'
/** The annotation with the deployment's `spec.replicas` when the replica set was last scaled. */
export const desiredReplicasAnnotation = 'deployment.kubernetes.io/desired-replicas'
/** The annotation with the deployment's maximum size, including surge, when the replica set was last scaled. */
export const maxReplicasAnnotation = 'deployment.kubernetes.io/max-replicas'

const notCopied: ReadonlySet<string> = new Set([
  lastAppliedAnnotation,
  revisionAnnotation,
  revisionHistoryAnnotation,
  desiredReplicasAnnotation,
  maxReplicasAnnotation,
  'deprecated.deployment.rollback.to',
])

// The maximum length of the annotation in characters; enough for hundreds of revisions.
const historyLimit = 2000

/** The revision number of an object; 0 without the annotation, undefined when the annotation is not an int64. */
export function revisionOf(object: HasMeta): bigint | undefined {
  const text = annotationOf(object, revisionAnnotation)
  return text === undefined ? 0n : parseRevision(text)
}

/** Revisions are int64: numbers of JavaScript would round large ones, and two revisions would become the same. */
function parseRevision(text: string): bigint | undefined {
  if (!/^[+-]?[0-9]+$/.test(text)) return undefined
  const revision = BigInt(text.replace('+', ''))
  return BigInt.asIntN(64, revision) === revision ? revision : undefined
}

/** The highest revision of the replica sets. */
export function maxRevision(sets: readonly ReplicaSet[]): bigint {
  let highest = 0n
  for (const set of sets) {
    const revision = revisionOf(set) ?? 0n
    if (revision > highest) highest = revision
  }
  return highest
}

/** The annotations that record the deployment's size when a replica set is scaled. */
export function replicasAnnotations(deployment: Deployment): Record<string, string> {
  const wanted = wantedOf(deployment)
  return {
    [desiredReplicasAnnotation]: String(wanted),
    [maxReplicasAnnotation]: String(wanted + rolloutLimits(deployment).maxSurge),
  }
}

/**
 * The annotations of the replica set of the deployment's template for this `revision`: the deployment's annotations,
 * the revision, and the earlier revisions of the replica set if the deployment is rolled back to it.
 */
export function newSetAnnotations(
  deployment: Deployment,
  current: Readonly<Record<string, string>> | undefined,
  revision: bigint,
): Record<string, string> {
  const annotations: Record<string, string> = { ...current }
  for (const [key, value] of Object.entries(deployment.metadata.annotations ?? {})) {
    if (!notCopied.has(key)) annotations[key] = value
  }
  const before = annotations[revisionAnnotation]
  const beforeNumber = before === undefined ? 0n : parseRevision(before)
  if (beforeNumber === undefined || beforeNumber >= revision) return annotations
  annotations[revisionAnnotation] = String(revision)
  if (before !== undefined) {
    annotations[revisionHistoryAnnotation] = appendHistory(annotations[revisionHistoryAnnotation], before)
  }
  return annotations
}

function appendHistory(history: string | undefined, revision: string): string {
  const text = history ? `${history},${revision}` : revision
  if (text.length <= historyLimit) return text
  // Drops the oldest revisions. A user may have written an annotation of any length, so it is not split.
  const cut = text.indexOf(',', text.length - historyLimit - 1)
  return text.slice((cut < 0 ? text.lastIndexOf(',') : cut) + 1)
}
