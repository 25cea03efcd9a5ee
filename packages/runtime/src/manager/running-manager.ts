import {
  AsyncDisposer,
  CaughtError,
  Deferred,
  formatDuration,
  KubewrightError,
  onAbort,
  toMillis,
} from '@kubewright/base'
import type { Cluster } from '../cluster/cluster.ts'
import type { ControllerRunner } from '../controller/controller-runner.ts'
import type { KeyController } from '../controller/key-controller.ts'
import type { Controller } from '../define/define-controller.ts'
import { isKeyController, type Operator } from '../define/define-operator.ts'
import type { Runnable, RunnablePhase } from '../define/runnable.ts'
import { gatedCluster } from '../leases/gated-client.ts'
import { NotLeaderError } from '../leases/not-leader-error.ts'
import { objectController } from '../reconcile/object-controller.ts'
import type { Tracer } from '../telemetry/tracing/tracer.ts'
import { ControllerRoster } from './controller-roster.ts'
import type { ManagedClusters, Manager, ManagerState } from './manager.ts'
import type { ManagerParts } from './manager-parts.ts'
import { ProvidedClusters } from './provided-clusters.ts'
import { partFailed, RunnableGroup } from './runnable-group.ts'

type GroupName = RunnablePhase | 'shared'

// In the order of their start.
const groupNames: readonly GroupName[] = ['server', 'webhook', 'cache', 'other', 'shared', 'leader']

/**
 * How long a replica waits for its warm-up before it campaigns for leadership. Limited, so that one part that cannot
 * warm up does not block the others.
 */
const warmUpPatience = 10_000

/** The implementation of {@link Manager}. */
export class RunningManager implements Manager {
  readonly name: string
  readonly identity: string
  readonly operator: Operator | undefined
  readonly cluster: Cluster
  readonly #parts: ManagerParts
  readonly #groups: Readonly<Record<GroupName, RunnableGroup>>
  readonly #roster: ControllerRoster
  readonly #provided: ProvidedClusters
  readonly #elected = new Deferred()
  // Aborts when the manager is stopped, or a part failed.
  readonly #stop = new AbortController()
  // Aborts when the lease and the share need no further renewals.
  readonly #stopRenewing = new AbortController()
  readonly #background: Promise<void>[] = []
  readonly #checks: Disposable[] = []
  #phase: ManagerState['phase'] = 'new'
  #failure: KubewrightError | undefined
  #leads = false

  constructor(parts: ManagerParts) {
    this.#parts = parts
    const { name, identity, operator, cluster, log, clock, elector } = parts
    this.name = name
    this.identity = identity
    this.operator = operator
    this.cluster = cluster
    const makeGroup = (seen: Cluster = cluster): RunnableGroup =>
      new RunnableGroup({ log, clock, cluster: seen, onFailure: (error) => this.#fail(error) })
    this.#groups = {
      server: makeGroup(),
      webhook: makeGroup(),
      cache: makeGroup(),
      other: makeGroup(),
      shared: makeGroup(),
      leader: makeGroup(elector === undefined ? cluster : gatedCluster(cluster, elector.gate)),
    }
    this.#roster = new ControllerRoster(parts, this.#groups)
    for (const controller of operator?.controllers ?? []) this.add(controller)
    for (const runnable of operator?.runnables ?? []) this.add(runnable)
    this.#provided = new ProvidedClusters(parts, this.#roster)
    if (operator?.clusters !== undefined) this.add(operator.clusters.start(this.#provided))
  }

  get tracer(): Tracer {
    return this.#parts.tracer
  }

  get clusters(): ManagedClusters {
    return this.#roster
  }

  get runners(): readonly ControllerRunner[] {
    return this.#roster.runners
  }

  get elected(): Promise<void> {
    return this.#elected.promise
  }

  get isLeader(): boolean {
    return this.#leads && (this.#parts.elector?.isLeader ?? true)
  }

  describe(): ManagerState {
    const { elector, sharding } = this.#parts
    return {
      name: this.name,
      identity: this.identity,
      phase: this.#phase,
      ...(elector && {
        leaderElection: { lease: elector.lease, holder: elector.holder, leading: elector.isLeader },
      }),
      ...(sharding && { sharding: { members: sharding.members, joined: sharding.joined, held: sharding.held } }),
      clusters: [this.cluster, ...this.#roster].map(({ name }) => name),
      runnables: groupNames.flatMap((group) => this.#groups[group].running),
    }
  }

  add(part: Runnable | Controller | KeyController): void {
    if (this.#stop.signal.aborted) {
      throw new KubewrightError(
        'KW_MANAGER_STOPPED',
        `can't accept new runnable as stop procedure is already engaged: "${part.name}" was added to manager "${this.name}"`,
      )
    }
    if ('run' in part) this.#groups[part.phase ?? 'leader'].add(part)
    else this.#roster.add(isKeyController(part) ? part : objectController(part))
  }

  async remove(part: Runnable | Controller | KeyController): Promise<void> {
    if (!('run' in part)) return this.#roster.remove(part.name)
    await this.#groups[part.phase ?? 'leader'].remove(part, toMillis(this.#parts.gracefulTimeout))
  }

  async start({ signal }: { readonly signal: AbortSignal }): Promise<void> {
    if (this.#phase !== 'new') {
      throw new KubewrightError('KW_MANAGER_STARTED', `manager already started: "${this.name}" can be run once`)
    }
    this.#phase = 'starting'
    const stopListening = onAbort(signal, () => this.#stop.abort())
    try {
      await this.#startInOrder(this.#stop.signal)
      this.#phase = 'running'
    } catch (error) {
      if (!this.#stop.signal.aborted) this.#fail(partFailed(`manager "${this.name}"`, error))
    }
    await aborted(this.#stop.signal)
    stopListening()
    this.#phase = 'stopping'
    try {
      await this.#stopInOrder()
    } finally {
      this.#phase = 'stopped'
    }
    if (this.#failure !== undefined) throw this.#failure
  }

  // The first failure stops the manager and becomes the result of start(); later ones are only logged.
  #fail(error: KubewrightError): void {
    if (this.#failure !== undefined || this.#stop.signal.aborted) {
      this.#parts.log.error(error, 'error received after stop sequence was engaged')
      return
    }
    this.#failure = error
    this.#stop.abort(error)
  }

  /**
   * Starts the phases one after the other; each waits for the runnables of the previous one that announce readiness. Leader election
   * comes last, so that a replica which becomes the leader has filled caches and queues.
   */
  async #startInOrder(signal: AbortSignal): Promise<void> {
    const { cluster, serveWebhooks, syncTimeout, elector, sharding } = this.#parts
    this.#watchHealth()
    await this.#groups.server.start({ signal })
    if (serveWebhooks !== undefined && !signal.aborted) this.#groups.webhook.add(serveWebhooks(this))
    await this.#groups.webhook.start({ signal })
    signal.throwIfAborted()
    this.#roster.start()
    await cluster.cache.waitForSync({ timeout: syncTimeout, signal })
    await this.#groups.cache.start({ signal })
    await this.#groups.other.start({ signal })
    await this.#warmUp(signal)
    signal.throwIfAborted()
    if (sharding !== undefined) {
      this.#background.push(sharding.run({ signal: this.#stopRenewing.signal }))
      this.#background.push(this.#whenJoined(signal))
    }
    if (elector !== undefined) this.#background.push(this.#campaign(signal))
    else {
      // Without leader election, the leader's parts still wait for the share: otherwise two replicas of a rolling
      // update would overlap.
      if (sharding !== undefined) await sharding.waitUntilJoined({ signal })
      await this.#lead(signal)
    }
  }

  async #whenJoined(signal: AbortSignal): Promise<void> {
    await this.#parts.sharding?.waitUntilJoined({ signal }).catch(() => undefined)
    await this.#groups.shared.start({ signal })
  }

  async #lead(signal: AbortSignal): Promise<void> {
    this.#leads = true
    this.#elected.resolve()
    await this.#groups.leader.start({ signal })
  }

  // Warms up the parts that wait for leadership or a share. A failure ends the manager.
  async #warmUp(signal: AbortSignal): Promise<void> {
    const runnables = [...this.#groups.shared.runnables, ...this.#groups.leader.runnables]
    const warm = Promise.all(
      runnables.map(async (runnable) => {
        try {
          await runnable.warmUp?.({ signal })
        } catch (error) {
          if (!signal.aborted) this.#fail(partFailed(runnable.name, error))
        }
      }),
    )
    const enough = new Deferred()
    const timer = this.#parts.clock.setTimer(warmUpPatience, () => enough.resolve(), 'patience with the warm-up')
    await Promise.race([warm, enough.promise])
    timer.cancel()
  }

  // One iteration per term. Ends when the signal aborts, or with the failure that stops the manager.
  async #campaign(signal: AbortSignal): Promise<void> {
    const { elector, onLost, abortTimeout, clock, log } = this.#parts
    const { leader } = this.#groups
    if (elector === undefined) return
    try {
      while (!signal.aborted) {
        await elector.acquire({ signal })
        await this.#lead(signal)
        await elector.keep({ signal: this.#stopRenewing.signal })
        this.#leads = false
        leader.abort(new NotLeaderError('leader election lost'))
        if (onLost === 'exit') this.#fail(new KubewrightError('KW_LEADERSHIP_LOST', 'leader election lost'))
        // Work of this term must not continue in the next term, in which its writes would pass again.
        const stuck = await endsWithin(leader.ended(), toMillis(abortTimeout), clock)
        if (!stuck && !signal.aborted) log.info('Stepped down; campaigning again', { lock: elector.lease })
        if (stuck && !signal.aborted) this.#fail(this.#stillRunning('after the lease was lost', leader.running))
      }
    } catch (error) {
      if (!signal.aborted && !this.#stopRenewing.signal.aborted) this.#fail(partFailed('leader election', error))
    }
  }

  /**
   * Stops the phases in reverse order. Invariant: the lease and the share are released only after all work that they protect has ended;
   * otherwise they are left to expire, so that no other replica overlaps with this one.
   */
  async #stopInOrder(): Promise<void> {
    const { clock, log, elector, sharding, releaseOnStop, disposables, gracefulTimeout, abortTimeout } = this.#parts
    const groups = this.#groups
    this.#roster.giveUp()
    // A leader that lost its lease must not finish anything.
    const graceful = this.#failure?.code === 'KW_LEADERSHIP_LOST' ? 0 : toMillis(gracefulTimeout)
    const abortAll = (): void => {
      for (const group of groupNames) groups[group].abort(new Error(`manager "${this.name}" stops`))
    }
    const timer = clock.setTimer(graceful, abortAll, 'end of the graceful stop')
    if (graceful <= 0) abortAll()
    const stop = async (...names: readonly GroupName[]): Promise<void> => {
      for (const name of names) groups[name].drain()
      await Promise.all(names.map((name) => groups[name].ended()))
    }
    const inOrder = async (): Promise<void> => {
      await stop('other')
      await stop('leader', 'shared')
      await this.#roster
        .stop()
        .catch((error: unknown) => log.error(error, 'Stopping the sources of controllers failed'))
      await this.#provided[Symbol.asyncDispose]()
      await stop('cache')
      await stop('webhook')
      await stop('server')
    }
    const late = await endsWithin(inOrder(), graceful + toMillis(abortTimeout), clock)
    timer.cancel()
    this.#stopRenewing.abort()
    // A renewal in flight must not overtake the release.
    await Promise.all(this.#background)
    if (elector !== undefined) {
      // While work is running, no other replica may start: then the lease must expire.
      if (groups.leader.running.length === 0 && releaseOnStop) await elector.release()
      else elector.abandon()
    }
    if (sharding !== undefined) {
      if (groups.shared.running.length === 0) await sharding.leave()
      else sharding.abandon()
    }
    for (const check of this.#checks) check[Symbol.dispose]()
    const running = groupNames.flatMap((name) => groups[name].running)
    const disposer = new AsyncDisposer()
    for (const disposable of disposables) disposer.use(disposable)
    const disposal = disposer.disposeAsync()
    disposal.catch((error: unknown) => log.error(error, 'Disposing the resources of the manager failed'))
    if (!late) await disposal.catch(() => undefined)
    if (late) {
      const error = this.#stillRunning(`after ${formatDuration(graceful + toMillis(abortTimeout))}`, running)
      if (this.#failure === undefined) throw error
      log.error(error, 'Manager did not stop in time')
    }
  }

  #stillRunning(when: string, names: readonly string[]): KubewrightError {
    const what = names.length === 0 ? 'sources of controllers' : names.join(', ')
    return new KubewrightError(
      'KW_STOP_TIMEOUT',
      `Manager "${this.name}" did not stop: ${when} still running: ${what}. Make it end when its signal aborts, or raise 'gracefulTimeout'`,
    )
  }

  #watchHealth(): void {
    const { health, elector, sharding, operator } = this.#parts
    if (health === undefined) return
    const { client } = this.cluster
    const { live = {}, ready = {} } = operator?.checks ?? {}
    for (const [name, check] of Object.entries(live)) {
      this.#checks.push(health.addLiveness({ name, check: (signal) => check({ signal, client }) }))
    }
    for (const [name, check] of Object.entries(ready)) {
      this.#checks.push(health.addReadiness({ name, check: (signal) => check({ signal, client }) }))
    }
    if (elector !== undefined) {
      this.#checks.push(health.addLiveness({ name: 'leaderElection', check: () => elector.check() }))
      const campaigns = (): void => {
        const problem = elector.problem()
        if (problem !== undefined) throw new CaughtError(problem)
      }
      this.#checks.push(health.addReadiness({ name: 'leaderElection', check: campaigns }))
    }
    // Lists may need this process to convert their objects, so readiness must not depend on them.
    if ((operator?.conversions.length ?? 0) > 0) return
    const check = (): void => {
      const problems = [...this.#roster.problems()]
      const share = sharding?.problem()
      if (share !== undefined) problems.push(share)
      if (problems.length > 0) throw new CaughtError(problems.join('; '))
    }
    this.#checks.push(health.addReadiness({ name: 'controllers', check }))
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => void onAbort(signal, () => resolve()))
}

// Resolves to true when the work did not end in time.
async function endsWithin(work: Promise<void>, millis: number, clock: ManagerParts['clock']): Promise<boolean> {
  const late = new Deferred<boolean>()
  const timer = clock.setTimer(millis, () => late.resolve(true), 'patience with a stop')
  try {
    return await Promise.race([work.then(() => false), late.promise])
  } finally {
    timer.cancel()
  }
}
