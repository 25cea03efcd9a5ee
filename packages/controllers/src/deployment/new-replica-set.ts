import { controllerRef, type Reads } from '@kubewright/api'
import { compareValues, deepCopy, deepEqual } from '@kubewright/base'
import { type Deployment, type PodTemplateSpec, ReplicaSet, type ReplicaSetDraft } from '@kubewright/k8s'
import { templateHash } from '../workload/template-hash.ts'
import { maxRevision, newSetAnnotations, replicasAnnotations } from './revisions.ts'
import { isRolling, rolloutLimits, specReplicas, wantedOf } from './rollout-limits.ts'

// The label that distinguishes the pods of different templates.
const templateHashLabel = 'pod-template-hash'

const maxNameLength = 253

interface Template {
  readonly metadata?: { readonly labels?: Readonly<Record<string, string>> | undefined } | undefined
}

/** Whether two templates are equal, ignoring the hash label. */
export function sameTemplate(a: Template | undefined, b: Template | undefined): boolean {
  return deepEqual(withoutHash(a), withoutHash(b))
}

function withoutHash(template: Template | undefined): object {
  const { [templateHashLabel]: _, ...labels } = template?.metadata?.labels ?? {}
  return { ...template, metadata: { creationTimestamp: null, ...template?.metadata, labels } }
}

/** The replica sets, oldest first. */
export function byAge(sets: readonly ReplicaSet[]): ReplicaSet[] {
  return [...sets].sort((a, b) => {
    const order = compareValues(a.metadata.creationTimestamp, b.metadata.creationTimestamp)
    return order === 0 ? compareValues(a.metadata.name, b.metadata.name) : order
  })
}

/** The replica set with the deployment's template; the oldest when there are several. */
export function findNewSet(deployment: Deployment, sets: readonly ReplicaSet[]): ReplicaSet | undefined {
  return byAge(sets).find((set) => sameTemplate(set.spec.template, deployment.spec.template))
}

/** The size that the new replica set may have now, given the old replica sets. */
export function newSetReplicas(deployment: Deployment, oldSets: readonly ReplicaSet[], current: number): number {
  const wanted = wantedOf(deployment)
  if (!isRolling(deployment)) return wanted
  const room = wanted + rolloutLimits(deployment).maxSurge - specReplicas(oldSets) - current
  return room <= 0 ? current : current + Math.min(room, wanted - current)
}

/**
 * A draft of the replica set for the deployment's template. Its name is derived from the template, so it is created
 * only once.
 */
export function newReplicaSet(
  deployment: Deployment,
  oldSets: readonly ReplicaSet[],
): ReplicaSetDraft & Reads<ReplicaSet> {
  const { name, namespace } = deployment.metadata
  const { minReadySeconds, selector } = deployment.spec
  const hash = templateHash(deployment.spec.template, deployment.status?.collisionCount)
  const template = deepCopy<unknown>(deployment.spec.template) as PodTemplateSpec
  const labels = { ...template.metadata?.labels, [templateHashLabel]: hash }
  const annotations = newSetAnnotations(deployment, undefined, maxRevision(oldSets) + 1n)
  return ReplicaSet({
    metadata: {
      name: `${name.slice(0, maxNameLength - 1 - hash.length)}-${hash}`,
      ...(namespace === undefined ? {} : { namespace }),
      labels,
      annotations: { ...annotations, ...replicasAnnotations(deployment) },
      ownerReferences: [controllerRef(deployment)],
    },
    spec: {
      replicas: newSetReplicas(deployment, oldSets, 0),
      ...(minReadySeconds === undefined ? {} : { minReadySeconds }),
      selector: {
        ...(deepCopy<unknown>(selector) as object),
        matchLabels: { ...selector.matchLabels, [templateHashLabel]: hash },
      },
      template: { ...template, metadata: { ...template.metadata, labels } },
    },
  })
}
