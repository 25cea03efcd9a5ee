import type { Clock, Logger, MetricSink, Random } from '@kubewright/base'
import type { Cluster } from '../cluster/cluster.ts'
import type { KeyGate } from '../leases/write-gate.ts'
import type { EventRecorder } from '../telemetry/events/event-recorder.ts'
import type { Tracer } from '../telemetry/tracing/tracer.ts'

/** What a manager gives to each controller that it runs. */
export interface ControllerParts {
  readonly cluster: Cluster
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  readonly metrics: MetricSink
  readonly tracer: Tracer
  readonly events: EventRecorder
  /** The name of the operator: the field manager of what its controllers apply starts with it. */
  readonly operator: string
  /** Present when replicas share the keys. */
  readonly keyGate?: KeyGate
}
