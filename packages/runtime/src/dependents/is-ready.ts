import type { KubeObject } from '@kubewright/api'

/** The fields that readiness depends on. Each exists for some kinds only. */
interface Observed {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly generation?: number | undefined }
  readonly spec?: { readonly replicas?: number | undefined; readonly type?: string | undefined } | undefined
  readonly status?:
    | {
        readonly observedGeneration?: number | undefined
        readonly phase?: string | undefined
        readonly availableReplicas?: number | undefined
        readonly readyReplicas?: number | undefined
        readonly updatedReplicas?: number | undefined
        readonly desiredNumberScheduled?: number | undefined
        readonly updatedNumberScheduled?: number | undefined
        readonly numberAvailable?: number | undefined
        readonly loadBalancer?: { readonly ingress?: readonly unknown[] | undefined } | undefined
        readonly conditions?: readonly { readonly type: string; readonly status: string }[] | undefined
      }
    | undefined
}

const rules: Readonly<Record<string, (object: Observed) => boolean>> = {
  'apps/v1 Deployment': ({ spec, status }) => {
    const { updatedReplicas = 0, availableReplicas = 0 } = status ?? {}
    return Math.min(updatedReplicas, availableReplicas) >= (spec?.replicas ?? 1)
  },
  'apps/v1 ReplicaSet': ({ spec, status }) => (status?.availableReplicas ?? 0) >= (spec?.replicas ?? 1),
  'apps/v1 StatefulSet': ({ spec, status }) => {
    const { updatedReplicas = 0, readyReplicas = 0 } = status ?? {}
    return Math.min(updatedReplicas, readyReplicas) >= (spec?.replicas ?? 1)
  },
  'apps/v1 DaemonSet': ({ status }) => {
    const { desiredNumberScheduled, updatedNumberScheduled = 0, numberAvailable = 0 } = status ?? {}
    if (desiredNumberScheduled === undefined) return false
    return Math.min(updatedNumberScheduled, numberAvailable) >= desiredNumberScheduled
  },
  'batch/v1 Job': (job) => hasCondition(job, 'Complete'),
  'v1 Pod': (pod) => hasCondition(pod, 'Ready'),
  'v1 PersistentVolumeClaim': ({ status }) => status?.phase === 'Bound',
  'v1 Namespace': ({ status }) => status?.phase === 'Active',
  'v1 Service': ({ spec, status }) => spec?.type !== 'LoadBalancer' || (status?.loadBalancer?.ingress ?? []).length > 0,
  'apiextensions.k8s.io/v1 CustomResourceDefinition': (crd) => hasCondition(crd, 'Established'),
}

/**
 * Whether an object has reached its desired state. Workloads are ready when all replicas of the current generation are
 * available, Jobs when they are complete, claims when they are bound. An object of another kind is ready unless it has a
 * condition `Ready` that is not true. A status of an earlier generation is never ready.
 */
export function isReady(object: KubeObject): boolean {
  const observed = object as Observed
  const { metadata, status } = observed
  if (status?.observedGeneration !== undefined && status.observedGeneration < (metadata.generation ?? 0)) return false
  const rule = rules[`${observed.apiVersion} ${observed.kind}`]
  if (rule !== undefined) return rule(observed)
  const ready = status?.conditions?.find(({ type }) => type === 'Ready')
  return ready === undefined || ready.status === 'True'
}

const hasCondition = ({ status }: Observed, type: string): boolean =>
  status?.conditions?.some((condition) => condition.type === type && condition.status === 'True') ?? false
