import { type MetricRegistry, type MetricSink, nullLogger, systemClock, systemRandom, uuid } from '@kubewright/base'
import { createCluster } from '../cluster/create-cluster.ts'
import type { LeaderElectionOptions, ShardingOptions } from '../define/define-operator.ts'
import { LeaderElector } from '../leases/election/leader-elector.ts'
import { apiLeaseStore } from '../leases/lease-store.ts'
import { resolveLeaseTiming } from '../leases/lease-timing.ts'
import { createSharding } from '../leases/sharding/create-sharding.ts'
import { createEventRecorder } from '../telemetry/events/create-event-recorder.ts'
import { noTracer } from '../telemetry/tracing/tracer.ts'
import type { Manager, ManagerOptions } from './manager.ts'
import { RunningManager } from './running-manager.ts'

const noMetrics: MetricSink = { add() {}, set() {}, observe() {} }

/** Creates a manager. Nothing starts, and no request is sent, before `start`. */
export function createManager(options: ManagerOptions): Manager {
  const { operator, clock = systemClock, random = systemRandom, log = nullLogger, namespace = 'default' } = options
  const { metrics = noMetrics, tracer = noTracer, client } = options
  if (isRegistry(metrics)) metrics.include(operator?.metrics ?? [])
  const name = options.name ?? operator?.name ?? 'manager'
  const identity = options.identity ?? `${name}_${uuid(random)}`
  const disposables: AsyncDisposable[] = []
  const owned = <T extends AsyncDisposable>(thing: T): T => {
    disposables.push(thing)
    return thing
  }
  const cluster =
    options.cluster ??
    (client &&
      owned(
        createCluster({
          api: client,
          clock,
          random,
          log,
          metrics,
          namespaces: operator?.namespaces,
          cache: operator?.cache,
        }),
      ))
  if (cluster === undefined) {
    throw new TypeError(
      `Cannot create manager "${name}" without a 'cluster': pass one, or a 'client' to create it from`,
    )
  }
  const reporter = { clock, log, metrics, random, component: name, instance: identity }
  const events = options.events ?? owned(createEventRecorder({ ...reporter, client: cluster.api }))
  const leaderElection = optionsOf<LeaderElectionOptions>(options.leaderElection ?? operator?.leaderElection)
  const sharding = optionsOf<ShardingOptions>(options.sharding ?? operator?.sharding)
  const member = { identity, clock, random, log, metrics }
  const elector =
    leaderElection &&
    new LeaderElector({
      ...member,
      events,
      store: apiLeaseStore(cluster.api, leaderElection.namespace ?? namespace, {
        watch: leaderElection.watch ?? false,
      }),
      leaseName: leaderElection.leaseName ?? name,
      timing: resolveLeaseTiming(leaderElection, `manager "${name}"`),
    })
  const shares =
    sharding &&
    createSharding({
      ...member,
      store: apiLeaseStore(cluster.api, sharding.namespace ?? namespace),
      leaseName: sharding.leaseName ?? name,
      timing: resolveLeaseTiming(sharding, `manager "${name}"`),
    })
  const { releaseOnStop = true, onLost = 'exit' } = leaderElection ?? {}
  const parts = { ...member, name, operator, cluster, tracer, events, elector, sharding: shares, disposables }
  return new RunningManager({
    ...parts,
    releaseOnStop,
    onLost,
    makeEvents: (other) => createEventRecorder({ ...reporter, client: other.api }),
    health: options.health,
    gracefulTimeout: options.gracefulTimeout ?? '30s',
    abortTimeout: options.abortTimeout ?? '5s',
    syncTimeout: options.syncTimeout ?? '2m',
    degraded: options.degraded ?? false,
    serveWebhooks: options.serveWebhooks,
  })
}

const isRegistry = (sink: MetricSink): sink is MetricRegistry => 'include' in sink

function optionsOf<T extends object>(option: boolean | T | undefined): T | undefined {
  // All options of both types are optional.
  if (option === true) return {} as T
  return option === false ? undefined : option
}
