import { type Clock, errorText, isKubewrightError, type Logger, type Random } from '@kubewright/base'
import { type Cluster, createManager, type Manager } from '@kubewright/runtime'
import type { ElectionTiming } from '../config/plane-config.ts'

/** The namespace of the Leases of the control plane. */
const leaseNamespace = 'kube-system'
/** The delay before a component starts again after a failure. */
const restartDelay = 1000

/** The parts of one candidacy, created before each one. Disposed after its work has ended. */
export interface ComponentParts extends Partial<AsyncDisposable> {
  /** Adds the work of the component to the manager, which runs it while this server leads. */
  addTo(manager: Manager): void
}

/** Options of {@link startElected}. */
export interface ElectedOptions {
  /** The name of the component and of its Lease in kube-system. */
  readonly name: string
  /** Identifies this server among the candidates. */
  readonly identity: string
  readonly timing: ElectionTiming
  readonly cluster: Cluster
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  /** Creates the parts of a candidacy. They may hold state: no parts are used for two candidacies. */
  readonly create: () => ComponentParts
}

/** A component of the control plane that runs on one server at a time. Disposal stops it and releases its Lease. */
export interface ElectedComponent extends AsyncDisposable {
  readonly name: string
  /** Whether this server runs the component. */
  readonly isLeader: boolean
}

/**
 * Runs a component on the server that holds its Lease. The caches fill before the server campaigns, so that it takes over
 * without delay. A server that loses the Lease ends all work of the component, discards its state and campaigns again.
 *
 * Fencing: the clients that the work receives refuse writes from `renewDeadline` after the last renewal on, which is before
 * another server can acquire the Lease. A clean stop releases the Lease after the work has ended.
 */
export function startElected(options: ElectedOptions): ElectedComponent {
  const { name, identity, clock, random, log, cluster, timing } = options
  const stop = new AbortController()
  let manager: Manager | undefined

  const runOnce = async (): Promise<void> => {
    const parts = options.create()
    const leaderElection = {
      ...timing,
      leaseName: name,
      namespace: leaseNamespace,
      watch: true,
      onLost: 'exit',
    } as const
    try {
      const created = createManager({ name, identity, cluster, clock, random, log, leaderElection, degraded: true })
      parts.addTo(created)
      manager = created
      await created.start({ signal: stop.signal })
    } finally {
      await parts[Symbol.asyncDispose]?.()
    }
  }
  const run = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      try {
        await runOnce()
      } catch (error) {
        if (isKubewrightError(error, 'KW_LEADERSHIP_LOST'))
          log.warn('Lost the lease; campaigning again', { lock: name })
        else log.error(error, 'Component failed; restarting', { component: name, reason: errorText(error) })
        await clock.sleep(restartDelay, { signal: stop.signal }).catch(() => undefined)
      }
    }
  }
  const running = run()
  return {
    name,
    get isLeader() {
      return manager?.isLeader ?? false
    },
    async [Symbol.asyncDispose]() {
      stop.abort(new Error('The control plane was stopped'))
      await running
    },
  }
}
