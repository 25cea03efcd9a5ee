import type { Clock, Duration, Logger, MetricSink, Random } from '@kubewright/base'
import type { Cluster } from '../cluster/cluster.ts'
import type { Operator } from '../define/define-operator.ts'
import type { LeaderElector } from '../leases/election/leader-elector.ts'
import type { Sharding } from '../leases/sharding/sharding.ts'
import type { HealthChecks } from '../serving/health/health-check.ts'
import type { EventRecorder } from '../telemetry/events/event-recorder.ts'
import type { Tracer } from '../telemetry/tracing/tracer.ts'
import type { ManagerOptions } from './manager.ts'

/** The parts of a manager, with all defaults applied. */
export interface ManagerParts {
  readonly name: string
  readonly identity: string
  readonly operator: Operator | undefined
  readonly cluster: Cluster
  /** Resources that were created for this manager. Disposed in reverse order after everything else has ended. */
  readonly disposables: readonly AsyncDisposable[]
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  readonly metrics: MetricSink
  readonly tracer: Tracer
  readonly health: HealthChecks | undefined
  /** The recorder for the main cluster. */
  readonly events: EventRecorder
  /** Creates the recorder for another cluster. */
  readonly makeEvents: (cluster: Cluster) => EventRecorder & AsyncDisposable
  readonly elector: LeaderElector | undefined
  readonly releaseOnStop: boolean
  readonly onLost: 'exit' | 'step-down'
  readonly sharding: Sharding | undefined
  readonly gracefulTimeout: Duration
  readonly abortTimeout: Duration
  readonly syncTimeout: Duration
  readonly degraded: boolean
  readonly serveWebhooks: ManagerOptions['serveWebhooks']
}
