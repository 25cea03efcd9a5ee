import { toTime } from '@kubewright/api'
import type { ContainerStatus, Pod, PodStatus } from '@kubewright/k8s'
import { knownTime } from '../workload/known-time.ts'
import { type NodePlan, type PlannedContainer, scriptFor } from './node-plan.ts'
import { podConditions } from './pod-conditions.ts'
import type { MissingInputs } from './pod-inputs.ts'
import {
  type ContainerNews,
  type ContainerStep,
  type ContainerTimes,
  stepContainer,
  terminatedState,
} from './step-container.ts'

/** State of a pod that the node keeps besides the status. */
export interface PodMemory {
  readonly since: number
  readonly containers: Map<string, ContainerTimes>
  /** The real processes by container: their exit code, or none while they run. @default there are none */
  readonly processes?: ReadonlyMap<string, { readonly exitCode?: number | undefined }> | undefined
}

/** Input of {@link stepPod}. */
export interface PodFacts {
  readonly plan: NodePlan
  readonly memory: PodMemory
  readonly podIP: string
  readonly hostIP: string
  readonly now: number
  /** The objects that the pod lacks. @default none */
  readonly missing?: MissingInputs | undefined
}

/** A transition of one container. */
export interface PodNews {
  readonly container: string
  readonly what: ContainerNews
  /** The message of the container's waiting state, for `config-failed`. */
  readonly message?: string | undefined
  readonly lines: readonly string[]
}

/** The result of {@link stepPod}. */
export interface PodStep {
  readonly status: PodStatus
  readonly news: readonly PodNews[]
  readonly wakeIn: number | undefined
}

type Policy = 'Always' | 'Never' | 'OnFailure'

/** Advances a bound pod to the current time. Deterministic: the same input and time give the same result. */
export function stepPod(pod: Pod, facts: PodFacts): PodStep {
  const { memory, missing, now } = facts
  const isUnmounted = (missing?.mounts.length ?? 0) > 0
  const policy: Policy = (pod.spec.restartPolicy ?? 'Always') as Policy
  const news: PodNews[] = []
  const wakes: number[] = []
  const run = (
    container: PlannedContainer,
    isInit: boolean,
    restartPolicy: Policy,
    since: number,
    list = isInit ? pod.status?.initContainerStatuses : pod.status?.containerStatuses,
  ): ContainerStep => {
    const times = memory.containers.get(container.name) ?? {}
    memory.containers.set(container.name, times)
    const problem = missing?.containers.get(container.name)
    const endless = isInit && restartPolicy === 'Always'
    const script = scriptFor(facts.plan, pod, container, isInit && !endless)
    const step = stepContainer(
      list?.find(({ name }) => name === container.name),
      times,
      {
        container,
        script,
        restartPolicy,
        podText: `${pod.metadata.name}_${pod.metadata.namespace}(${pod.metadata.uid})`,
        containerID: `simulated://${pod.metadata.uid}/${container.name}`,
        since,
        now,
        process: memory.processes?.get(container.name),
        hold: isUnmounted ? 'unmounted' : problem === undefined ? undefined : { config: problem },
      },
    )
    for (const what of step.news)
      news.push({ container: container.name, what, message: problem, lines: what === 'started' ? script.log : [] })
    if (step.wakeIn !== undefined) wakes.push(step.wakeIn)
    return step
  }

  const init = stepInit(pod, policy, memory.since, run)
  const started = init.done
    ? pod.spec.containers.map((container) => run(container, false, policy, init.since).status)
    : pod.spec.containers.map((container) => notYet(container))
  // Ephemeral containers are never restarted, and count neither for the phase nor for readiness.
  const ephemeral = (init.done ? (pod.spec.ephemeralContainers ?? []) : []).map(
    (container) => run(container, false, 'Never', init.since, pod.status?.ephemeralContainerStatuses).status,
  )
  const sidecars = init.statuses.filter(({ name }) => isSidecar(pod, name))
  const phase = init.failed ? 'Failed' : phaseOf(started, policy, init.done)
  const over = phase === 'Succeeded' || phase === 'Failed'
  const podIP = pod.spec.hostNetwork ? facts.hostIP : isUnmounted ? undefined : facts.podIP
  // Assigned one by one: V8 takes ten times as long for an object with several spreads.
  const status: { -readonly [K in keyof PodStatus]: PodStatus[K] } = {
    phase,
    conditions: podConditions({
      pod,
      phase,
      initialized: init.done,
      uninitialized: init.pending,
      containers: [...sidecars, ...started],
      hasSandbox: !isUnmounted,
      now,
    }),
    hostIP: facts.hostIP,
    hostIPs: [{ ip: facts.hostIP }],
    startTime: pod.status?.startTime ?? toTime(memory.since),
    containerStatuses: started,
  }
  if (podIP !== undefined) {
    status.podIP = podIP
    status.podIPs = [{ ip: podIP }]
  }
  if (pod.metadata.generation !== undefined) status.observedGeneration = pod.metadata.generation
  if (pod.status?.qosClass !== undefined) status.qosClass = pod.status.qosClass
  if (init.statuses.length > 0) status.initContainerStatuses = init.statuses
  if (ephemeral.length > 0) {
    status.ephemeralContainerStatuses = ephemeral.map((one) => ({ ...one, ready: false, started: false }))
  }
  return { status, news, wakeIn: over || wakes.length === 0 ? undefined : wakes.reduce((a, b) => Math.min(a, b)) }
}

interface InitStep {
  readonly statuses: ContainerStatus[]
  readonly done: boolean
  readonly failed: boolean
  readonly pending: readonly string[]
  /** The time at which the containers may start. */
  readonly since: number
}

/**
 * Runs init containers in sequence; those with restart policy Always are sidecars and keep running alongside the other
 * containers.
 */
function stepInit(
  pod: Pod,
  policy: Policy,
  start: number,
  run: (container: PlannedContainer, isInit: boolean, restartPolicy: Policy, since: number) => ContainerStep,
): InitStep {
  const containers = pod.spec.initContainers ?? []
  const statuses: ContainerStatus[] = []
  const pending: string[] = []
  let failed = false
  let since = start
  for (const container of containers) {
    if (pending.length > 0) {
      statuses.push({ ...notYet(container), state: { waiting: { reason: 'PodInitializing' } } })
      pending.push(container.name)
      continue
    }
    const sidecar = container.restartPolicy === 'Always'
    // Failed init containers are restarted with every restart policy of the pod except Never.
    const { status } = run(container, true, sidecar ? 'Always' : policy === 'Never' ? 'Never' : 'OnFailure', since)
    const ended = status.state?.terminated
    const succeeded = ended?.exitCode === 0
    statuses.push(succeeded ? { ...status, ready: true } : status)
    if (sidecar ? status.started === true : succeeded) {
      since = Math.max(since, knownTime(ended?.finishedAt) ?? since)
      continue
    }
    if (ended !== undefined && policy === 'Never') failed = true
    pending.push(container.name)
  }
  return { statuses, done: pending.length === 0, failed, pending, since }
}

const isSidecar = (pod: Pod, name: string): boolean =>
  pod.spec.initContainers?.some((one) => one.name === name && one.restartPolicy === 'Always') ?? false

function notYet({ image = '', name }: PlannedContainer): ContainerStatus {
  const state = { waiting: { reason: 'PodInitializing' } }
  return { name, image, imageID: '', state, ready: false, restartCount: 0, started: false }
}

function phaseOf(
  statuses: readonly ContainerStatus[],
  policy: Policy,
  initialized: boolean,
): NonNullable<PodStatus['phase']> {
  const fresh = statuses.some(
    ({ lastState, state }) => state?.waiting !== undefined && lastState?.terminated === undefined,
  )
  if (!initialized || fresh) return 'Pending'
  const ended = statuses.map(({ state }) => state?.terminated?.exitCode)
  if (policy === 'Always' || ended.includes(undefined)) return 'Running'
  if (ended.every((code) => code === 0)) return 'Succeeded'
  return policy === 'Never' ? 'Failed' : 'Running'
}

/**
 * The time at which a pod being deleted has stopped, in epoch milliseconds: at the latest when its grace period ends.
 */
export function stopsAt(pod: Pod, plan: NodePlan, since: number): number {
  const { deletionGracePeriodSeconds = 30 } = pod.metadata
  const slowest = Math.max(0, ...pod.spec.containers.map((container) => stopTime(pod, plan, container)))
  return since + Math.min(slowest, deletionGracePeriodSeconds * 1000)
}

/**
 * The milliseconds that a container takes to stop: first the preStop hook, then the program. Of the hooks only `sleep` takes
 * time, because kubelets run it themselves; the others need a program in the container.
 */
function stopTime(pod: Pod, plan: NodePlan, container: PlannedContainer): number {
  const { lifecycle } = pod.spec.containers.find(({ name }) => name === container.name) ?? {}
  return (lifecycle?.preStop?.sleep?.seconds ?? 0) * 1000 + scriptFor(plan, pod, container).stopAfter
}

/** The time at which the pod reaches its `activeDeadlineSeconds`, in epoch milliseconds; undefined without a deadline. */
export function deadlineOf({ spec, status }: Pod, since: number): number | undefined {
  const { activeDeadlineSeconds } = spec
  if (activeDeadlineSeconds === undefined) return undefined
  return (knownTime(status?.startTime) ?? since) + activeDeadlineSeconds * 1000
}

/** The message of a pod that has reached its deadline, as in kubelet/active_deadline.go. */
export const deadlineMessage = 'Pod was active on the node longer than the specified deadline'

/** The status of a pod that was stopped at its deadline. */
export function overdueStatus(pod: Pod, plan: NodePlan, now: number): PodStatus {
  const stopped = stoppedStatus(pod, plan, now)
  const conditions = podConditions({
    pod,
    phase: 'Failed',
    initialized: true,
    uninitialized: [],
    containers: stopped.containerStatuses ?? [],
    now,
  })
  return { ...stopped, phase: 'Failed', reason: 'DeadlineExceeded', message: deadlineMessage, conditions }
}

/**
 * The status of a pod whose containers were stopped; they count as killed if they took longer than the grace period.
 */
export function stoppedStatus(pod: Pod, plan: NodePlan, now: number): PodStatus {
  const { deletionGracePeriodSeconds = 30 } = pod.metadata
  const containerStatuses = (pod.status?.containerStatuses ?? []).map((status) => {
    if (status.state?.terminated !== undefined) return status as ContainerStatus
    const container = pod.spec.containers.find(({ name }) => name === status.name) ?? status
    const killed = stopTime(pod, plan, container) > deletionGracePeriodSeconds * 1000
    const state = terminatedState(
      status.state as ContainerStatus['state'],
      killed ? 137 : 0,
      now,
      status.containerID ?? '',
    )
    return { ...status, state, ready: false, started: false } as ContainerStatus
  })
  const failed = containerStatuses.some(({ state }) => state?.terminated?.exitCode !== 0)
  const phase = failed || containerStatuses.length === 0 ? 'Failed' : 'Succeeded'
  const conditions = podConditions({
    pod,
    phase,
    initialized: true,
    uninitialized: [],
    containers: containerStatuses,
    now,
  })
  return { ...(pod.status as PodStatus), phase, conditions, containerStatuses }
}
