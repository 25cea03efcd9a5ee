import type { Reads } from '@kubewright/api'
import type { DaemonSet, Pod, PodDraft, Toleration } from '@kubewright/k8s'
import { podFromTemplate } from '../workload/pod-from-template.ts'

/** The label with the hash of the revision that a pod was created from. */
export const hashLabel = 'controller-revision-hash'
const generationLabel = 'pod-template-generation'
const generationAnnotation = 'deprecated.daemonset.template.generation'

/** Daemon pods stay on unhealthy nodes, because many daemons are needed to repair them. */
function daemonTolerations(hostNetwork: boolean): Toleration[] {
  const tolerate = (name: string, effect: 'NoExecute' | 'NoSchedule'): Toleration => ({
    key: `node.kubernetes.io/${name}`,
    operator: 'Exists',
    effect,
  })
  return [
    tolerate('not-ready', 'NoExecute'),
    tolerate('unreachable', 'NoExecute'),
    tolerate('disk-pressure', 'NoSchedule'),
    tolerate('memory-pressure', 'NoSchedule'),
    tolerate('pid-pressure', 'NoSchedule'),
    tolerate('unschedulable', 'NoSchedule'),
    ...(hostNetwork ? [tolerate('network-unavailable', 'NoSchedule')] : []),
  ]
}

/** A draft of the daemon pod for a node. Its node affinity makes the scheduler bind it to this node only. */
export function daemonPod(set: DaemonSet, node: string, hash: string): PodDraft & Reads<Pod> {
  const draft = podFromTemplate(set.spec.template, set)
  const { spec } = draft
  draft.metadata.labels = { ...draft.metadata.labels, [hashLabel]: hash }
  const generation = set.metadata.annotations?.[generationAnnotation]
  if (generation !== undefined && /^[0-9]+$/.test(generation)) draft.metadata.labels[generationLabel] = generation
  const added = daemonTolerations(spec.hostNetwork === true)
  const same = (a: Toleration, b: Toleration): boolean => a.key === b.key && a.effect === b.effect
  const kept = (spec.tolerations ?? []).filter((one) => !added.some((other) => same(one, other)))
  spec.tolerations = [...kept, ...added]
  const term = { matchFields: [{ key: 'metadata.name', operator: 'In' as const, values: [node] }] }
  spec.affinity = {
    ...spec.affinity,
    nodeAffinity: {
      ...spec.affinity?.nodeAffinity,
      requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [term] },
    },
  }
  return draft
}

/** The node that a daemon pod is bound to, or that its affinity names. */
export function nodeOf(pod: Pod): string | undefined {
  if (pod.spec.nodeName) return pod.spec.nodeName
  const required = pod.spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
  for (const { matchFields = [] } of required?.nodeSelectorTerms ?? []) {
    const field = matchFields.find(({ key, operator }) => key === 'metadata.name' && operator === 'In')
    if (field?.values?.length === 1) return field.values[0]
  }
  return undefined
}

/** The tolerations of the set's daemon pods. */
export function tolerationsOf(set: DaemonSet): readonly Toleration[] {
  const { hostNetwork = false, tolerations = [] } = set.spec.template.spec ?? {}
  return [...(tolerations as readonly Toleration[]), ...daemonTolerations(hostNetwork)]
}
