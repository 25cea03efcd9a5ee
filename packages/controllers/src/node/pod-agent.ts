import { isConflict, isNotFound, keyOf, parseKey } from '@kubewright/api'
import type { Clock } from '@kubewright/base'
import { ConfigMap, Node, PersistentVolumeClaim, Pod, type PodStatus, Secret } from '@kubewright/k8s'
import type { ChannelSource, KeyContext, KeyController, KeyOutcome, Source } from '@kubewright/runtime'
import { defineBuiltinController } from '../workload/define-builtin-controller.ts'
import { eventSource } from '../workload/event-source.ts'
import { isPodTerminal } from '../workload/pod-state.ts'
import { sameContent } from '../workload/write-status.ts'
import { rejectedStatus, rejectionOf } from './admit-pod.ts'
import { ClusterLedger } from './cluster-ledger.ts'
import type { NodeAddresses } from './node-addresses.ts'
import { type NodePlan, processAnnotation } from './node-plan.ts'
import { findMissingInputs, hasInputs, type MissingInputs } from './pod-inputs.ts'
import type { LogBook } from './pod-logs.ts'
import type { ProcessHost, RunningProcess } from './process-host.ts'
import {
  deadlineMessage,
  deadlineOf,
  overdueStatus,
  type PodMemory,
  type PodNews,
  stepPod,
  stoppedStatus,
  stopsAt,
} from './step-pod.ts'

/** Dependencies of {@link podAgent}. */
export interface PodAgentParts {
  readonly plan: NodePlan
  readonly addresses: NodeAddresses
  readonly logs: LogBook
  /** Enqueues a pod when its process exits. */
  readonly wake: ChannelSource
  readonly processes: ProcessHost | undefined
  /** Crashes that tests requested, by key of the pod. The agent removes them. */
  readonly crashes: Map<string, ContainerCrash>
  /** Whether container starts are recorded as Events too; problems always are. */
  readonly tellsStarts: boolean
}

/** A crash of the containers of a pod. */
export interface ContainerCrash {
  /** @default all containers */
  readonly container?: string | undefined
  /** @default 1 */
  readonly exitCode?: number | undefined
}

interface Seat extends PodMemory {
  readonly uid: string
  readonly podIP: string
  // Created when needed: a cluster has many pods, and most of them need none of these.
  processes?: Map<string, { readonly exitCode?: number | undefined }> | undefined
  running?: Map<string, RunningProcess> | undefined
  /** The messages about volumes that cannot be mounted that were recorded as Events. */
  reported?: Set<string> | undefined
  /** Whether the node has accepted the pod. */
  isAdmitted: boolean
  deletedAt?: number | undefined
}

/** Starts, updates and stops the pods of the simulated nodes, as kubelets do. */
export function podAgent(parts: PodAgentParts): KeyController {
  const ledger = new ClusterLedger()
  return defineBuiltinController({
    name: 'kubelet',
    kind: Pod,
    concurrency: 32,
    sources: [boundPods(parts.addresses, ledger), parts.wake],
    start: ({ clock }) => {
      const agent = new PodAgent(parts, ledger, clock)
      return (key, context) => agent.reconcile(key, context)
    },
  })
}

/** Enqueues the pods of the simulated nodes, and counts the resources that they use. */
function boundPods(addresses: NodeAddresses, ledger: ClusterLedger): Source {
  const cause = (event: 'update' | 'delete', pod: Pod) => ({ cause: { event, kind: 'v1 Pod', object: keyOf(pod) } })
  return eventSource(Pod, {
    started: () => ledger.clearPods(),
    seen: (pod, sink) => {
      if (!addresses.has(pod.spec.nodeName)) return
      ledger.see(pod)
      sink.add(keyOf(pod), cause('update', pod))
    },
    gone: (pod, sink) => {
      ledger.forget(pod.metadata.uid)
      if (addresses.has(pod.spec.nodeName)) sink.add(keyOf(pod), cause('delete', pod))
    },
  })
}

class PodAgent {
  readonly #parts: PodAgentParts
  readonly #ledger: ClusterLedger
  readonly #clock: Clock
  readonly #seats = new Map<string, Seat>()
  #primed: Promise<void> | undefined

  constructor(parts: PodAgentParts, ledger: ClusterLedger, clock: Clock) {
    this.#parts = parts
    this.#ledger = ledger
    this.#clock = clock
  }

  async reconcile(key: string, context: KeyContext): Promise<KeyOutcome | undefined> {
    await (this.#primed ??= this.#prime(context).catch((error: unknown) => {
      this.#primed = undefined
      throw error
    }))
    const pod = await context.client.find(Pod, parseKey(key))
    const known = this.#seats.get(key)
    if (known !== undefined && known.uid !== pod?.metadata.uid) this.#leave(key, known)
    if (pod === undefined || !this.#parts.addresses.has(pod.spec.nodeName)) return undefined
    const seat = this.#seats.get(key) ?? this.#seat(key, pod)
    try {
      if (pod.metadata.deletionTimestamp !== undefined) return await this.#stop(pod, seat, context)
      if (isPodTerminal(pod)) return undefined
      return await this.#advance(pod, seat, context)
    } catch (error) {
      // Other clients write pods too; the event of their change requeues the pod.
      if (isNotFound(error)) return undefined
      if (isConflict(error)) return { requeueAfter: 1 }
      throw error
    }
  }

  /** Reserves the addresses of existing pods, so that no new pod gets one of them. */
  async #prime({ client }: KeyContext): Promise<void> {
    const { addresses } = this.#parts
    for (const { metadata, spec, status } of await client.list(Pod, { namespace: '' })) {
      if (addresses.has(spec.nodeName) && status?.podIP) addresses.take(spec.nodeName ?? '', metadata.uid, status.podIP)
    }
  }

  async #advance(pod: Pod, seat: Seat, context: KeyContext): Promise<KeyOutcome | undefined> {
    if (!seat.isAdmitted && !(await this.#admit(pod, context))) return undefined
    seat.isAdmitted = true
    const deadline = deadlineOf(pod, seat.since)
    if (deadline !== undefined && deadline <= this.#clock.now()) return this.#expire(pod, seat, context)
    const missing = await this.#missingInputs(pod, seat, context)
    const now = this.#clock.now()
    const { addresses, plan } = this.#parts
    const hostIP = addresses.ofNode(pod.spec.nodeName ?? '')
    const isReal = this.#parts.processes !== undefined && pod.metadata.annotations?.[processAnnotation] === 'true'
    if (isReal) {
      const processes = (seat.processes ??= new Map())
      for (const { name } of pod.spec.containers) if (!processes.has(name)) processes.set(name, {})
    }
    this.#crash(pod, seat)
    const step = stepPod(pod, { plan, memory: seat, podIP: seat.podIP, hostIP, now, missing })
    for (const item of step.news) this.#note(pod, seat, item, context, isReal)
    if (!sameContent(pod.status, step.status)) await write(context, pod, step.status)
    const isOver = step.status.phase === 'Succeeded' || step.status.phase === 'Failed'
    const times = [step.wakeIn, deadline === undefined || isOver ? undefined : Math.max(1, deadline - now)]
    const waits = times.filter((time) => time !== undefined)
    return waits.length === 0 ? undefined : { requeueAfter: Math.min(...waits) }
  }

  /** Stops a pod that has reached its deadline. */
  async #expire(pod: Pod, seat: Seat, context: KeyContext): Promise<undefined> {
    for (const process of seat.running?.values() ?? [])
      process.stop((pod.spec.terminationGracePeriodSeconds ?? 30) * 1000)
    for (const { name } of pod.spec.containers) this.#parts.logs.end(seat.uid, name)
    context.events.record(pod, { type: 'Normal', reason: 'DeadlineExceeded', message: deadlineMessage })
    await write(context, pod, overdueStatus(pod, this.#parts.plan, this.#clock.now()))
  }

  /** Whether the node can run the pod. Otherwise the pod has failed. */
  async #admit(pod: Pod, context: KeyContext): Promise<boolean> {
    const { nodeName = '' } = pod.spec
    const node = await context.client.find(Node, { name: nodeName })
    if (node === undefined) return true
    const [load] = this.#ledger.loads([node])
    const rejection = load && rejectionOf(pod, load)
    if (rejection === undefined) return true
    const { reason, message } = rejection
    context.events.record(pod, { type: 'Warning', reason, message })
    await write(context, pod, rejectedStatus(pod, rejection, this.#clock.now()))
    return false
  }

  /**
   * Finds the objects that a pod without running containers lacks. When some are missing, watches them: their creation
   * requeues the pod. Otherwise the pod costs no watch, only reads.
   */
  async #missingInputs(pod: Pod, seat: Seat, context: KeyContext): Promise<MissingInputs | undefined> {
    const statuses = pod.status?.containerStatuses
    const isRunning = statuses?.every(({ state }) => state?.running !== undefined) ?? false
    if (isRunning || !hasInputs(pod)) return undefined
    const { namespace = '' } = pod.metadata
    const { api } = context.cluster
    let missing = await findMissingInputs(pod, {
      configMap: (name) => api.find(ConfigMap, { namespace, name }),
      secret: (name) => api.find(Secret, { namespace, name }),
      claim: (name) => api.find(PersistentVolumeClaim, { namespace, name }),
    })
    if (missing.mounts.length + missing.containers.size > 0) {
      missing = await findMissingInputs(pod, {
        configMap: (name) => context.watch(ConfigMap, { namespace, name }),
        secret: (name) => context.watch(Secret, { namespace, name }),
        claim: (name) => context.watch(PersistentVolumeClaim, { namespace, name }),
      })
    }
    // Volumes stay mounted once a container has started.
    const hasStarted = statuses?.some(({ containerID, lastState }) => containerID || lastState?.terminated) ?? false
    const mounts = hasStarted ? [] : missing.mounts
    for (const message of mounts) {
      const reported = (seat.reported ??= new Set())
      if (reported.has(message)) continue
      reported.add(message)
      context.events.record(pod, { type: 'Warning', reason: 'FailedMount', message })
    }
    return { ...missing, mounts }
  }

  #crash(pod: Pod, seat: Seat): void {
    const { crashes } = this.#parts
    const crash = crashes.get(keyOf(pod))
    if (crash === undefined) return
    crashes.delete(keyOf(pod))
    const { container, exitCode = 1 } = crash
    for (const { name, state } of pod.status?.containerStatuses ?? []) {
      if (state?.running === undefined || (container ?? name) !== name) continue
      const times = seat.containers.get(name) ?? {}
      times.crash = exitCode
      seat.containers.set(name, times)
    }
  }

  async #stop(pod: Pod, seat: Seat, context: KeyContext): Promise<KeyOutcome | undefined> {
    const now = this.#clock.now()
    const first = seat.deletedAt === undefined
    seat.deletedAt ??= now
    const grace = (pod.metadata.deletionGracePeriodSeconds ?? 30) * 1000
    if (first) for (const process of seat.running?.values() ?? []) process.stop(grace)
    if (!isPodTerminal(pod)) {
      if (first) this.#tellStopping(pod, context)
      const due = seat.running?.size ? seat.deletedAt + grace + 1000 : stopsAt(pod, this.#parts.plan, seat.deletedAt)
      if (due > now) return { requeueAfter: due - now }
      for (const { name } of pod.spec.containers) this.#parts.logs.end(seat.uid, name)
      // A pod with finalizers stays visible, so write its final status.
      if ((pod.metadata.finalizers ?? []).length > 0) {
        await write(context, pod, stoppedStatus(pod, this.#parts.plan, now))
      }
    }
    const { namespace = '', name, uid } = pod.metadata
    if (pod.metadata.deletionGracePeriodSeconds === 0 && (pod.metadata.finalizers ?? []).length > 0) return undefined
    await context.client.delete(Pod, { namespace, name }, { gracePeriodSeconds: 0, preconditions: { uid } })
    return undefined
  }

  #note(
    pod: Pod,
    seat: Seat,
    { container, lines, message: problem, what }: PodNews,
    context: KeyContext,
    isReal: boolean,
  ): void {
    const { logs, tellsStarts } = this.#parts
    const { events } = context
    const { uid } = seat
    const now = this.#clock.now()
    const tell = (type: 'Normal' | 'Warning', reason: string, message: string): void =>
      events.record(pod, { type, reason, message })
    if (what === 'started') {
      logs.begin(uid, container)
      const image = pod.spec.containers.find(({ name }) => name === container)?.image ?? ''
      for (const line of lines) logs.write(uid, container, line, now)
      // An empty log would look like a program that has written nothing yet.
      if (lines.length === 0 && !isReal) logs.write(uid, container, startedLine(container, image), now)
      if (isReal) this.#run(pod, seat, container)
      if (!tellsStarts) return
      tell('Normal', 'Pulled', `Container image "${image}" already present on machine`)
      tell('Normal', 'Created', 'Container created')
      tell('Normal', 'Started', 'Container started')
    } else if (what === 'ended') {
      logs.end(uid, container)
    } else if (what === 'backed-off') {
      const text = `${pod.metadata.name}_${pod.metadata.namespace}(${uid})`
      tell('Warning', 'BackOff', `Back-off restarting failed container ${container} in pod ${text}`)
    } else if (what === 'config-failed') {
      tell('Warning', 'Failed', `Error: ${problem ?? ''}`)
    } else {
      tell('Warning', 'Failed', 'Error: ErrImagePull')
    }
  }

  #run(pod: Pod, seat: Seat, name: string): void {
    const container = pod.spec.containers.find((one) => one.name === name)
    if (container === undefined || this.#parts.processes === undefined) return
    const env = Object.fromEntries((container.env ?? []).map(({ name: key, value = '' }) => [key, value]))
    const process = this.#parts.processes.start({
      command: [...(container.command ?? []), ...(container.args ?? [])],
      env: {
        ...env,
        POD_NAME: pod.metadata.name,
        POD_NAMESPACE: pod.metadata.namespace ?? '',
        POD_IP: seat.podIP,
        POD_UID: seat.uid,
      },
      ...(container.workingDir ? { workingDir: container.workingDir } : {}),
      onLine: (line) => this.#parts.logs.write(seat.uid, name, line, this.#clock.now()),
    })
    const processes = (seat.processes ??= new Map<string, { readonly exitCode?: number | undefined }>())
    const running = (seat.running ??= new Map<string, RunningProcess>())
    processes.set(name, {})
    running.set(name, process)
    void process.exited.then((exitCode) => {
      if (running.get(name) !== process) return
      running.delete(name)
      processes.set(name, { exitCode })
      this.#parts.wake.push(keyOf(pod))
    })
  }

  #tellStopping(pod: Pod, { events }: KeyContext): void {
    for (const { name, state } of pod.status?.containerStatuses ?? []) {
      if (state?.running === undefined) continue
      events.record(pod, { type: 'Normal', reason: 'Killing', message: `Stopping container ${name}` })
    }
  }

  #seat(key: string, pod: Pod): Seat {
    const { uid } = pod.metadata
    const seat: Seat = {
      uid,
      since: this.#clock.now(),
      containers: new Map(),
      isAdmitted: pod.status?.startTime !== undefined,
      podIP: this.#parts.addresses.take(pod.spec.nodeName ?? '', uid, pod.status?.podIP),
    }
    this.#seats.set(key, seat)
    return seat
  }

  #leave(key: string, seat: Seat): void {
    for (const process of seat.running?.values() ?? []) process.stop(0)
    seat.running?.clear()
    this.#seats.delete(key)
    this.#parts.addresses.release(seat.uid)
    this.#parts.logs.forget(seat.uid)
  }
}

async function write({ client }: KeyContext, pod: Pod, status: PodStatus): Promise<void> {
  await client.subresource(Pod, 'status').update({ ...pod, status })
}

const startedLine = (container: string, image: string): string =>
  `Simulated container "${container}" (${image}) started. It runs no program; the annotation kubewright.dev/log sets the lines of this log.`
