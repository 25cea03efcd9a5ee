import { toTime } from '@kubewright/api'
import type { DaemonSet, Deployment, Job, Node, Pod, PodSpec, ReplicaSet, StatefulSet } from '@kubewright/k8s'

/** The current time in the tests. */
export const now: number = Date.UTC(2025, 0, 1, 12)

/** The fields that a test sets; the rest has defaults. */
export interface Facts {
  readonly name?: string
  readonly labels?: Record<string, string>
  readonly annotations?: Record<string, string>
  readonly finalizers?: string[]
  readonly owner?: { readonly kind: string; readonly name: string; readonly uid: string }
  /** Seconds before `now`. */
  readonly age?: number
  readonly deleted?: boolean
  readonly generation?: number
}

export function metadata(facts: Facts) {
  const { age = 0, annotations, deleted, finalizers, generation = 1, labels, name = 'x', owner } = facts
  return {
    name,
    namespace: 'test',
    uid: `uid-${name}`,
    resourceVersion: '1',
    generation,
    creationTimestamp: toTime(now - age * 1000),
    ...(labels ? { labels } : {}),
    ...(annotations ? { annotations } : {}),
    ...(finalizers ? { finalizers } : {}),
    ...(deleted ? { deletionTimestamp: toTime(now), deletionGracePeriodSeconds: 30 } : {}),
    ...(owner ? { ownerReferences: [{ apiVersion: 'apps/v1', controller: true, ...owner }] } : {}),
  }
}

/** The facts of a pod; `ready` is the number of seconds since it became ready. */
export interface PodFacts extends Facts {
  readonly phase?: 'Pending' | 'Running' | 'Succeeded' | 'Failed'
  readonly ready?: number
  readonly node?: string
  readonly restarts?: number
  readonly exitCode?: number
  /** When the container exited, in seconds before `now`. */
  readonly ended?: number
  readonly spec?: Partial<PodSpec>
}

export function pod(facts: PodFacts = {}): Pod {
  const { ended, exitCode = 0, node, phase = 'Running', ready, restarts = 0, spec } = facts
  const finished = { exitCode, finishedAt: toTime(now - (ended ?? 0) * 1000) }
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: metadata(facts),
    spec: { containers: [{ name: 'c', image: 'nginx' }], ...(node ? { nodeName: node } : {}), ...spec },
    status: {
      phase,
      ...(ready === undefined
        ? {}
        : { conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: toTime(now - ready * 1000) }] }),
      containerStatuses: [
        {
          name: 'c',
          image: 'nginx',
          imageID: '',
          ready: ready !== undefined,
          restartCount: restarts,
          state: ended === undefined ? { running: {} } : { terminated: finished },
        },
      ],
    },
  }
}

export function replicaSet(
  facts: Facts & {
    readonly replicas?: number
    readonly available?: number
    readonly image?: string
    readonly actual?: number
  },
): ReplicaSet {
  const { available = 0, image = 'nginx', replicas = 1 } = facts
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: metadata(facts),
    spec: { replicas, selector: {}, template: template(image) },
    status: {
      replicas: facts.actual ?? replicas,
      availableReplicas: available,
      readyReplicas: available,
      observedGeneration: 1,
      terminatingReplicas: 0,
    },
  }
}

export const template = (image = 'nginx') => ({
  metadata: { labels: { app: 'web' } },
  spec: { containers: [{ name: 'c', image }] },
})

export function deployment(
  spec: Partial<Deployment['spec']> = {},
  status?: Deployment['status'],
  facts: Facts = {},
): Deployment {
  const base = {
    replicas: 3,
    selector: { matchLabels: { app: 'web' } },
    template: template(),
    progressDeadlineSeconds: 600,
  }
  const strategy = { type: 'RollingUpdate' as const, rollingUpdate: { maxSurge: '25%', maxUnavailable: '25%' } }
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: metadata({ name: 'web', ...facts }),
    spec: { ...base, strategy, ...spec },
    ...(status ? { status } : {}),
  }
}

export function statefulSet(spec: Partial<StatefulSet['spec']> = {}, status?: StatefulSet['status']): StatefulSet {
  const base = { replicas: 3, serviceName: 'db', selector: { matchLabels: { app: 'web' } }, template: template() }
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: metadata({ name: 'db' }),
    spec: { ...base, updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } }, ...spec },
    ...(status ? { status } : {}),
  }
}

export function daemonSet(spec: Partial<DaemonSet['spec']> = {}): DaemonSet {
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: metadata({ name: 'agent' }),
    spec: { selector: { matchLabels: { app: 'web' } }, template: template(), ...spec },
  }
}

export function node(name: string, facts: Omit<Facts, 'name'> & Partial<Pick<Node, 'spec' | 'status'>> = {}): Node {
  const { namespace: _, ...meta } = metadata({ ...facts, name })
  const capacity = { cpu: '4', memory: '8Gi', pods: '110' }
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: meta,
    spec: facts.spec ?? {},
    status: facts.status ?? { capacity, allocatable: capacity },
  }
}

export function job(spec: Partial<Job['spec']> = {}, status?: Job['status'], facts: Facts = {}): Job {
  const base = {
    completions: 1,
    parallelism: 1,
    backoffLimit: 6,
    template: { spec: { restartPolicy: 'Never' as const, containers: [] } },
  }
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: metadata({ name: 'job', ...facts }),
    spec: { ...base, ...spec },
    ...(status ? { status } : {}),
  }
}
