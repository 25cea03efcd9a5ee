import { controllerOf, controllerRef, isOwnedBy, type OwnerReference, type Reads } from '@kubewright/api'
import { deepCopy } from '@kubewright/base'
import {
  PersistentVolumeClaim,
  type PersistentVolumeClaimDraft,
  type Pod,
  type PodDraft,
  type StatefulSet,
} from '@kubewright/k8s'
import { podFromTemplate, type TemplateLike } from '../workload/pod-from-template.ts'

/** The label with the name of the revision that a pod was created from. */
export const revisionLabel = 'controller-revision-hash'
const podNameLabel = 'statefulset.kubernetes.io/pod-name'
const podIndexLabel = 'apps.kubernetes.io/pod-index'

const maxInt32 = 2 ** 31 - 1

/** The ordinal in the name of a pod; undefined when the name does not belong to the set. */
export function ordinalOf(pod: Pod, set: StatefulSet): number | undefined {
  const [, parent, digits] = /^(.*)-([0-9]+)$/.exec(pod.metadata.name) ?? []
  return parent === set.metadata.name && Number(digits) <= maxInt32 ? Number(digits) : undefined
}

/** The first ordinal of a set. */
export const startOrdinal = (set: StatefulSet): number => set.spec.ordinals?.start ?? 0

/** Whether the ordinal is within the set's replicas. */
export function isWanted(ordinal: number, set: StatefulSet): boolean {
  const start = startOrdinal(set)
  return ordinal >= start && ordinal < start + (set.spec.replicas ?? 1)
}

const claimName = (template: string, set: StatefulSet, ordinal: number): string =>
  `${template}-${set.metadata.name}-${ordinal}`

/** A draft of the pod of an ordinal, with its identity labels, host name and volumes. */
export function statefulPod(
  set: StatefulSet,
  template: TemplateLike,
  revision: string,
  ordinal: number,
): PodDraft & Reads<Pod> {
  const draft = podFromTemplate(template, set)
  const name = `${set.metadata.name}-${ordinal}`
  draft.metadata.name = name
  draft.metadata.labels = { ...draft.metadata.labels, ...identityLabels(name, ordinal), [revisionLabel]: revision }
  draft.spec.hostname = name
  if (set.spec.serviceName) draft.spec.subdomain = set.spec.serviceName
  draft.spec.volumes = withClaims(set, ordinal, draft.spec.volumes ?? [])
  return draft
}

function identityLabels(name: string, ordinal: number): Record<string, string> {
  return { [podNameLabel]: name, [podIndexLabel]: String(ordinal) }
}

type Volumes = NonNullable<PodDraft['spec']['volumes']>

function withClaims(set: StatefulSet, ordinal: number, volumes: Volumes): Volumes {
  const names = (set.spec.volumeClaimTemplates ?? []).map(({ metadata }) => metadata?.name ?? '')
  const claims = names.map((name) => ({
    name,
    persistentVolumeClaim: { claimName: claimName(name, set, ordinal), readOnly: false },
  }))
  return [...claims, ...volumes.filter(({ name }) => !names.includes(name))]
}

/** Drafts of the claims for the pod of an ordinal. */
export function claimsOf(
  set: StatefulSet,
  ordinal: number,
): (PersistentVolumeClaimDraft & Reads<PersistentVolumeClaim>)[] {
  return (set.spec.volumeClaimTemplates ?? []).map((template) => {
    const { metadata, spec } = deepCopy<unknown>(template) as PersistentVolumeClaimDraft
    return PersistentVolumeClaim({
      metadata: {
        ...metadata,
        name: claimName(metadata.name, set, ordinal),
        namespace: set.metadata.namespace ?? '',
        labels: { ...metadata.labels, ...set.spec.selector.matchLabels },
      },
      spec,
    })
  })
}

/** The labels of a pod with missing identity labels restored; undefined when none is missing. */
export function repairedLabels(pod: Pod, ordinal: number): Record<string, string> | undefined {
  const wanted = identityLabels(pod.metadata.name, ordinal)
  const missing = Object.entries(wanted).some(([key, value]) => pod.metadata.labels?.[key] !== value)
  return missing ? { ...pod.metadata.labels, ...wanted } : undefined
}

/**
 * The owners that a claim should have according to the set's retention policy: the set when claims are deleted with it,
 * the pod when claims are deleted on scale-down. Undefined when the owners are right already, or another controller
 * owns the claim.
 */
export function claimOwners(claim: PersistentVolumeClaim, set: StatefulSet, pod: Pod): OwnerReference[] | undefined {
  const { whenDeleted = 'Retain', whenScaled = 'Retain' } = set.spec.persistentVolumeClaimRetentionPolicy ?? {}
  const current = (claim.metadata.ownerReferences ?? []) as readonly OwnerReference[]
  const own = (uid: string): boolean => uid === set.metadata.uid || uid === pod.metadata.uid
  const controller = controllerOf(claim)
  const others = current.filter(({ uid }) => !own(uid))
  // An owner reference to a deleted object of the same name is stale. The garbage collector handles it, so the claim stays unchanged.
  if (others.some(({ kind, name }) => isNamesake(kind, name, set) || isNamesake(kind, name, pod))) return undefined
  if (controller !== undefined && !own(controller.uid)) return others.length === current.length ? undefined : others
  const ordinal = ordinalOf(pod, set)
  const scaledAway = ordinal !== undefined && !isWanted(ordinal, set)
  const byPod = whenScaled === 'Delete' && scaledAway
  const bySet = whenDeleted === 'Delete' && !byPod
  const right =
    isOwnedBy(claim, set) === bySet &&
    isOwnedBy(claim, pod) === byPod &&
    current.every(({ uid, controller: controls }) => !own(uid) || controls === true)
  if (right) return undefined
  return [...others, ...(bySet ? [controllerRef(set)] : []), ...(byPod ? [controllerRef(pod)] : [])]
}

const isNamesake = (kind: string, name: string, object: StatefulSet | Pod): boolean =>
  kind === object.kind && name === object.metadata.name
