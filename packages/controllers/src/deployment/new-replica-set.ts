import { controllerRef, type Reads } from '@kubewright/api'
import { deepCopy, deepEqual } from '@kubewright/base'
import { type Deployment, type PodTemplateSpec, ReplicaSet, type ReplicaSetDraft } from '@kubewright/k8s'
import { templateHash } from '../workload/template-hash.ts'
import { maxRevision, newSetAnnotations, replicasAnnotations } from './revisions.ts'
import { isRolling, rolloutLimits, specReplicas, wantedOf } from './rollout-limits.ts'

// The label that tells the pods of one template from those of another.
const templateHashLabel = 'pod-template-hash'

const maxNameLength = 253

interface Template {
  readonly metadata?: { readonly labels?: Readonly<Record<string, string>> | undefined } | undefined
}

/** Whether two templates ask for the same pods, whatever hash they are labelled with. */
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
    const order = compareText(a.metadata.creationTimestamp, b.metadata.creationTimestamp)
    return order === 0 ? compareText(a.metadata.name, b.metadata.name) : order
  })
}

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** The replica set of the deployment's template, the oldest of several. */
export function findNewSet(deployment: Deployment, sets: readonly ReplicaSet[]): ReplicaSet | undefined {
  return byAge(sets).find((set) => sameTemplate(set.spec.template, deployment.spec.template))
}

/** How many replicas the new replica set should have now, given what there is. */
export function newSetReplicas(deployment: Deployment, oldSets: readonly ReplicaSet[], current: number): number {
  const wanted = wantedOf(deployment)
  if (!isRolling(deployment)) return wanted
  const room = wanted + rolloutLimits(deployment).maxSurge - specReplicas(oldSets) - current
  return room <= 0 ? current : current + Math.min(room, wanted - current)
}

/** A draft of the replica set of the deployment's template. Its name follows from the template, so that it is made once. */
export function newReplicaSet(
  deployment: Deployment,
  oldSets: readonly ReplicaSet[],
): ReplicaSetDraft & Reads<ReplicaSet> {
  const { name, namespace } = deployment.metadata
  const { minReadySeconds, selector } = deployment.spec
  const hash = templateHash(deployment.spec.template, deployment.status?.collisionCount)
  const template = deepCopy<unknown>(deployment.spec.template) as PodTemplateSpec
  const labels = { ...template.metadata?.labels, [templateHashLabel]: hash }
  const annotations = newSetAnnotations(deployment, undefined, maxRevision(oldSets) + 1)
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
