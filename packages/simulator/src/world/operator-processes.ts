import { type Duration, errorText, nullLogger } from '@kubewright/base'
import { createClient } from '@kubewright/client'
import {
  type ControllerRunner,
  createCluster,
  createManager,
  createWebhookHandler,
  type Operator,
} from '@kubewright/runtime'
import { OutsideIdentities } from './outside-identities.ts'
import { connectOutside } from './outside-world.ts'
import { SimulatedProcess } from './process.ts'
import type { World } from './world.ts'

const restartDelay = 10_000
const maxRestartDelay = 300_000
// Twelve times the default lease, with the longest period that the deadline permits. With the defaults, the renewals of 25
// minutes at rest would be 40 times as many requests as the work of an operator. Faults of leaders last longer than the lease.
const renewal = { leaseDuration: '180s', renewDeadline: '135s', retryPeriod: '108s' } as const
// Faults end watches; their own timeouts would only add requests at rest.
const watchTimeout: Duration = '24h'

/** The processes of the operator in one run: starts them, and restarts those that exit or crash. */
export class OperatorProcesses {
  /** The identities that the state outside the cluster has returned. */
  readonly identities: OutsideIdentities = new OutsideIdentities()
  readonly #world: World
  readonly #outside: unknown
  readonly all: SimulatedProcess[] = []
  /** The times at which processes ended by themselves. */
  readonly exits: number[] = []

  constructor(world: World, outside: unknown) {
    this.#world = world
    this.#outside = outside
  }

  /**
   * The wall time of code that uses Date: that of the newest process. The outside world shares it, because real systems do not differ by an
   * hour for long.
   */
  wallTime(): number {
    return (this.all.findLast(({ works }) => works)?.clock ?? this.#world.clock).now()
  }

  start(replica: number): SimulatedProcess {
    const world = this.#world
    const { setup, network, schedule } = world
    const number = this.all.filter((one) => one.replica === replica).length + 1
    const name = schedule.replicas > 1 ? `replica ${replica}, process ${number}` : `process ${number}`
    const replace = (started: (next: SimulatedProcess) => void): void => {
      if (!world.isOver) started(this.start(replica))
    }
    const process = new SimulatedProcess(name, replica, world.clock, (downtime, started) => {
      world.clock.setTimer(downtime, () => replace(started), 'restart')
    })
    this.all.push(process)
    world.history.note('operator', `The operator starts (${name})`)
    const operator = setup.createOperator({ world: connectOutside(this.#outside, process, world) })
    process.operator = operator
    const { clock } = process
    const client = createClient({
      transport: network.connect(world.plane.transport(), process),
      impersonate: setup.cluster.rights,
      clock,
      namespace: 'default',
      listNamespace: '',
      ...(world.sources === undefined ? {} : { around: world.sources.around }),
    })
    const log = setup.log ?? nullLogger
    const { webhooks, conversions } = operator
    if (webhooks.length + conversions.length > 0) {
      const handle = createWebhookHandler({ webhooks, conversions, client, clock, log })
      process.webhooks = async (request) => handle(request as never)
    }
    const random = world.random.fork(name)
    const cache = { ...operator.cache, reflector: { watchTimeout } }
    const { namespaces } = operator
    const manager = createManager({
      operator,
      cluster: createCluster({ api: client, clock, random, log, namespaces, cache }),
      clock,
      random,
      log,
      identity: `${operator.name}-${replica}-${number}`,
      namespace: 'default',
      leaderElection: schedule.replicas > 1 && electionOf(operator),
    })
    process.manager = manager
    if (world.sources !== undefined) for (const runner of manager.runners) this.#follow(runner)
    const exited = (error: unknown): void => this.#exited(process, error)
    manager
      .start({ signal: new AbortController().signal })
      .then(() => exited(new Error('its manager has ended')), exited)
    return process
  }

  /** Adds the results of reconciles to the timeline. */
  #follow(runner: ControllerRunner): void {
    const { history } = this.#world
    runner.onReconciled(({ key, result, error, requeueAfterMillis }) => {
      const outcomes = {
        success: 'succeeds',
        requeue_after: `succeeds and runs again in ${Math.round((requeueAfterMillis ?? 0) / 1000)} s`,
        conflict: 'ends with a conflict',
        error: `fails: ${errorText(error)}`,
        terminal_error: `fails and is not tried again: ${errorText(error)}`,
      }
      history.note('operator', `The reconcile of ${runner.name} ${key} ${outcomes[result]}`)
    })
  }

  /** The process has ended by itself: it starts again with a growing delay, as a kubelet restarts containers. */
  #exited(process: SimulatedProcess, error: unknown): void {
    if (process.isDead) return
    const world = this.#world
    process.hasExited = true
    process.kill()
    this.exits.push(world.now)
    world.history.note('operator', `The operator exits (${process.name}): ${errorText(error)}`)
    const delay = Math.min(maxRestartDelay, restartDelay * 2 ** Math.min(this.exits.length - 1, 6))
    world.clock.setTimer(delay, () => this.start(process.replica), 'restart')
  }

  /** Replaces each process that works by a new one, as an update of the operator does. */
  restart(): void {
    for (const process of this.all.filter(({ works }) => works)) {
      process.restartAfterCrash(0)
      process.kill()
    }
  }
}

/** The leader election of a replica. The author's timing is used as a whole, because its parts depend on each other. */
function electionOf({ leaderElection }: Operator): Operator['leaderElection'] {
  if (leaderElection === false) return false
  const { leaseDuration, renewDeadline, retryPeriod } = leaderElection
  const isDefault = leaseDuration === undefined && renewDeadline === undefined && retryPeriod === undefined
  return isDefault ? { ...leaderElection, ...renewal } : leaderElection
}
