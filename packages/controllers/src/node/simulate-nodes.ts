import type { NodeConnector, PodLogRequest } from '@kubewright/api'
import type { Clock, Duration } from '@kubewright/base'
import { systemClock } from '@kubewright/base'
import { defaultRelease } from '@kubewright/k8s/releases'
import { channelSource, type KeyController } from '@kubewright/runtime'
import { NodeAddresses } from './node-addresses.ts'
import { type NodeSpecification, nodeAgent } from './node-agent.ts'
import { nodeHeartbeat } from './node-heartbeat.ts'
import type { NodePlan } from './node-plan.ts'
import { OwnedProcesses } from './owned-processes.ts'
import { type ContainerCrash, podAgent } from './pod-agent.ts'
import { LogBook } from './pod-logs.ts'
import type { ProcessHost } from './process-host.ts'
import { podScheduler } from './scheduler.ts'

/** Options of {@link simulateNodes}. */
export interface SimulateNodesOptions {
  /** The number of nodes, named `node-1`, `node-2` and so on, or their specifications. @default 1 */
  readonly nodes?: number | readonly NodeSpecification[] | undefined
  /** The version that the kubelets report, such as `v1.36.4`. @default that of the newest stable release */
  readonly kubeletVersion?: string | undefined
  /** How containers behave. @default they start at once, become ready and run; those of jobs exit after a second */
  readonly plan?: NodePlan | undefined
  /**
   * How often each node renews its Lease. Kubelets do it every 10 seconds. Without heartbeats the nodes have an
   * annotation, with which the built-in node lifecycle controller counts them as alive; other controllers would regard
   * them as unreachable. @default never
   */
  readonly heartbeat?: Duration | undefined
  /**
   * Runs real processes for pods with the annotation `kubewright.dev/process: "true"`. @default none: everything is
   * simulated
   */
  readonly processes?: ProcessHost | undefined
  /** How long real processes may take to stop on disposal before they are killed. @default '2s' */
  readonly stopGrace?: Duration | undefined
  /**
   * Whether Events report that containers were pulled, created and started. Problems are always reported. @default
   * false
   */
  readonly tellsStarts?: boolean | undefined
  /** Whether pods are bound to nodes. Turn it off if another scheduler runs. @default true */
  readonly schedules?: boolean | undefined
  /** The clock for the times of log queries. @default the system clock */
  readonly clock?: Clock | undefined
}

/**
 * Simulated nodes for one control plane. The API server reads container logs from them. Disposal kills the real
 * processes that they started; stop the controllers first.
 */
export interface SimulatedNodes extends NodeConnector, AsyncDisposable {
  /**
   * The scheduler unless it is off, the agent that runs pods, and the agent that registers the nodes. They hold state: run them in one
   * manager only.
   */
  readonly controllers: readonly KeyController[]
  /**
   * Crashes the running containers of a pod, or one of them. They restart according to the restart policy of the pod,
   * with back-off. `pod` is the key `namespace/name`. Has no effect on real processes.
   */
  crash(pod: string, options?: ContainerCrash): void
}

/**
 * Creates nodes without machines: pods are scheduled, start, become ready, fail, restart and stop according to a plan.
 */
export function simulateNodes(options: SimulateNodesOptions = {}): SimulatedNodes {
  const { clock = systemClock, heartbeat, nodes = 1, plan = {}, processes: host, tellsStarts = false } = options
  const { stopGrace = '2s', schedules = true, kubeletVersion = defaultRelease.gitVersion } = options
  const processes = host === undefined ? undefined : new OwnedProcesses({ host, clock, stopGrace })
  const specifications =
    typeof nodes === 'number' ? Array.from({ length: nodes }, (_, index) => ({ name: `node-${index + 1}` })) : nodes
  const addresses = new NodeAddresses(specifications.map(({ name }) => name))
  const book = new LogBook()
  const wake = channelSource({ name: 'process ended' })
  const crashes = new Map<string, ContainerCrash>()
  return Object.freeze({
    controllers: Object.freeze([
      nodeAgent(specifications, addresses, heartbeat, kubeletVersion),
      ...(heartbeat === undefined
        ? []
        : [
            nodeHeartbeat(
              specifications.map(({ name }) => name),
              heartbeat,
            ),
          ]),
      ...(schedules ? [podScheduler()] : []),
      podAgent({ plan, addresses, logs: book, wake, processes, tellsStarts, crashes }),
    ]),
    crash: (pod: string, crash: ContainerCrash = {}) => {
      crashes.set(pod, crash)
      wake.push(pod)
    },
    logs: (request: PodLogRequest) => (addresses.has(request.node) ? book.read(request, clock) : undefined),
    refusesStreams: (node: string) =>
      addresses.has(node)
        ? `the node ${node} is simulated and its containers run no program: exec, attach and port-forward are not available`
        : undefined,
    [Symbol.asyncDispose]: async () => processes?.[Symbol.asyncDispose](),
  })
}
