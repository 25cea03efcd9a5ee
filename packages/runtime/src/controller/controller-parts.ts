import type { Clock, Logger, MetricSink, Random } from '@kubewright/base'
import type { Cluster, Clusters } from '../cluster/cluster.ts'
import type { KeyGate } from '../leases/write-gate.ts'
import type { EventRecorder } from '../telemetry/events/event-recorder.ts'
import type { Tracer } from '../telemetry/tracing/tracer.ts'

/** The dependencies that a manager passes to each of its controllers. */
export interface ControllerParts {
  readonly cluster: Cluster
  /** All clusters of the manager, including `cluster`. @default only `cluster` */
  readonly clusters?: Clusters | undefined
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  readonly metrics: MetricSink
  readonly tracer: Tracer
  readonly events: EventRecorder
  /** The name of the operator: the prefix of its controllers' field managers. */
  readonly operator: string
  /** Set when replicas share the keys. */
  readonly keyGate?: KeyGate | undefined
}
