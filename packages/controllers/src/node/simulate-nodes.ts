import type { NodeConnector, PodLogRequest } from '@kubewright/api'
import type { Clock, Duration } from '@kubewright/base'
import { systemClock } from '@kubewright/base'
import { channelSource, type KeyController } from '@kubewright/runtime'
import { NodeAddresses } from './node-addresses.ts'
import { type NodeSpecification, nodeAgent } from './node-agent.ts'
import type { NodePlan } from './node-plan.ts'
import { OwnedProcesses } from './owned-processes.ts'
import { podAgent } from './pod-agent.ts'
import { LogBook } from './pod-logs.ts'
import type { ProcessHost } from './process-host.ts'
import { podScheduler } from './scheduler.ts'

/** What {@link simulateNodes} takes. */
export interface SimulateNodesOptions {
  /** How many nodes, named `node-1` and so on, or which. @default 1 */
  readonly nodes?: number | readonly NodeSpecification[]
  /** How containers behave. @default they start at once, are ready, and run; those of jobs end after a second */
  readonly plan?: NodePlan
  /** How often leases are renewed. @default never: the nodes cannot get lost */
  readonly heartbeat?: Duration
  /** Runs real programs for pods with the annotation `kubewright.dev/process: "true"`. @default none: all is simulated */
  readonly processes?: ProcessHost
  /** How long real programs are given to end when the nodes are disposed; then they are made to. @default '2s' */
  readonly stopGrace?: Duration
  /** Whether Events tell that containers were pulled, created and started. Troubles are always told. @default false */
  readonly tellsStarts?: boolean
  /** What the times of log queries count by. @default the system's */
  readonly clock?: Clock
}

/**
 * Simulated nodes for one control plane, whose API server takes them as where logs come from. Disposing them ends the real programs that
 * they started; to be done when their controllers have stopped.
 */
export interface SimulatedNodes extends NodeConnector, AsyncDisposable {
  /** The scheduler, the agent that runs pods, and the one that registers the nodes. To be run once. */
  readonly controllers: readonly KeyController[]
}

/** Describes nodes without machines: pods are scheduled, started, become ready, fail, restart and stop by a plan. */
export function simulateNodes(options: SimulateNodesOptions = {}): SimulatedNodes {
  const { clock = systemClock, heartbeat, nodes = 1, plan = {}, processes: host, tellsStarts = false } = options
  const { stopGrace = '2s' } = options
  const processes = host === undefined ? undefined : new OwnedProcesses({ host, clock, stopGrace })
  const specifications =
    typeof nodes === 'number' ? Array.from({ length: nodes }, (_, index) => ({ name: `node-${index + 1}` })) : nodes
  const addresses = new NodeAddresses(specifications.map(({ name }) => name))
  const book = new LogBook()
  const wake = channelSource({ name: 'process ended' })
  return Object.freeze({
    controllers: Object.freeze([
      nodeAgent(specifications, addresses, heartbeat),
      podScheduler(),
      podAgent({ plan, addresses, logs: book, wake, processes, tellsStarts }),
    ]),
    logs: (request: PodLogRequest) => (addresses.has(request.node) ? book.read(request, clock) : undefined),
    [Symbol.asyncDispose]: async () => processes?.[Symbol.asyncDispose](),
  })
}
