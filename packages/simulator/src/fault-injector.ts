import type { KubeObject } from '@kubewright/api'
import { changeField } from './change-field.ts'
import { stopInDebugger } from './debugger.ts'
import { describeFault, type Fault } from './fault.ts'
import type { Injection } from './network.ts'
import type { SimulatedProcess } from './process.ts'
import { isWrite, type RequestFacts } from './request-text.ts'
import type { Setup } from './setup.ts'
import type { World } from './world.ts'
import type { WrittenObject } from './write-log.ts'

/** An action of the operator: a request or a call to the world outside the cluster. */
export interface Action {
  /** The verb and the resource, or the method. */
  readonly label: string
  readonly isChange: boolean
}

/** Counts the actions of the operator in one run, and executes the faults of the schedule at them. */
export class FaultInjector {
  readonly #world: World
  /** The faults that have happened. */
  readonly fired: Set<Fault> = new Set()
  /** The actions, in order. */
  readonly log: Action[] = []
  /** The number of times that a fault was injected. */
  injections = 0
  #end = 0
  #webhooksDownUntil = 0

  constructor(world: World) {
    this.#world = world
  }

  /** The number of actions that the operator has begun. */
  get actions(): number {
    return this.log.length
  }

  /** Milliseconds until the last fault ends. */
  get untilEnd(): number {
    return Math.max(0, Math.ceil(this.#end - this.#world.now - 0.01))
  }

  get webhooksAreDown(): boolean {
    return this.#world.now < this.#webhooksDownUntil
  }

  /** Begins an action of the operator: executes the faults at it, and returns what they do to the action itself. */
  act(process: SimulatedProcess, text: string, facts: RequestFacts | undefined, source?: string): Injection {
    const { schedule, history } = this.#world
    this.log.push(facts === undefined ? { label: text, isChange: true } : actionOf(facts))
    const number = this.actions
    let injection: Injection = {}
    for (const fault of schedule.faults) {
      const last = fault.kind === 'error' ? fault.at + fault.times - 1 : fault.at
      if (number < fault.at || number > last) continue
      this.injections++
      if (!this.fired.has(fault)) {
        this.fired.add(fault)
        const description = describeFault(fault, text)
        if (this.#world.isInspected) stopInDebugger(description)
        history.note('fault', `Fault: ${description}`, source)
      }
      injection = { ...injection, ...this.#inject(fault, process, facts) }
    }
    if (facts === undefined) history.note('operator', `The operator calls ${text}`)
    return injection
  }

  #lasts(millis: number): void {
    this.#end = Math.max(this.#end, this.#world.now + millis)
  }

  #later(millis: number, run: () => void): void {
    this.#lasts(millis)
    this.#world.clock.setTimer(millis, run, 'fault')
  }

  #inject(fault: Fault, process: SimulatedProcess, facts: RequestFacts | undefined): Injection {
    const { network, processes } = this.#world
    this.#lasts(0)
    switch (fault.kind) {
      case 'crash':
        // The crash happens within the round trip of the request.
        processes.restartAfterKill(process, fault.downtime)
        this.#lasts(fault.downtime + 1000)
        return { crash: fault.when }
      case 'stale':
        processes.restartAfterKill(process, 0, (next) => {
          this.#lasts(fault.lag)
          void this.#startStale(next, fault)
        })
        return { crash: 'between' }
      case 'error':
        if (fault.status !== 409) return { status: fault.status }
        return facts?.verb === 'update' || facts?.verb === 'patch' ? { isConflict: true } : { status: 500 }
      case 'lost':
        return { lost: fault.effect ? 'after' : 'before' }
      case 'slow':
        this.#lasts(fault.by)
        return { slow: fault.by }
      case 'watch-cut':
        network.cutWatches(fault.expired)
        return {}
      case 'watch-gap':
        network.interruptWatches(fault.for)
        this.#lasts(fault.for)
        return {}
      case 'watch-lag':
        network.lag(fault.resource, fault.for)
        this.#lasts(fault.for)
        return {}
      case 'child-deleted':
      case 'child-changed':
        this.#later(fault.delay, () => void this.#meddle(fault))
        return {}
      case 'server-restart':
        network.serverDown(fault.for)
        this.#lasts(fault.for)
        return {}
      case 'webhooks-down':
        this.#webhooksDownUntil = this.#world.now + fault.for
        this.#lasts(fault.for)
        return {}
      case 'pod-crash':
        this.#later(fault.delay, () => void this.#world.cluster.crashPod(fault.pick))
        return {}
      case 'pods-unready':
        void this.#world.cluster.makeUnready().then((restore) => {
          if (fault.for !== undefined) this.#later(fault.for, restore)
        })
        this.#lasts(1000)
        return {}
      case 'pods-pending':
        void this.#world.cluster.setSchedulable(false)
        this.#later(fault.for, () => void this.#world.cluster.setSchedulable(true))
        return {}
      case 'node-lost':
        this.#later(fault.delay, () => void this.#loseNodes(fault.for))
        return {}
      case 'volumes-pending':
        void this.#stopProvisioning(fault.for)
        this.#lasts(fault.for + 1000)
        return {}
      case 'pause':
        process.pause()
        this.#later(fault.for, () => process.resume())
        return {}
      case 'lease-lost':
        network.loseLease(process, fault.for)
        this.#lasts(fault.for)
        return {}
      case 'clock-jump':
        process.clock.setSkew(fault.by)
        return {}
      case 'quota':
        network.quota(fault.for)
        this.#lasts(fault.for)
        return {}
      case 'forbidden':
        if (facts !== undefined) network.forbid(facts.plural, fault.for)
        this.#lasts(fault.for)
        return {}
    }
  }

  async #loseNodes(millis: number): Promise<void> {
    const { cluster, history } = this.#world
    history.note('cluster', 'The node vanishes with its pods')
    const restore = await cluster.loseNodes()
    this.#later(millis, () => {
      history.note('cluster', 'A new node registers')
      void restore()
    })
  }

  async #stopProvisioning(millis: number): Promise<void> {
    const restore = await this.#world.cluster.stopProvisioning()
    this.#later(millis, () => void restore())
  }

  async #startStale(next: SimulatedProcess, fault: Extract<Fault, { kind: 'stale' }>): Promise<void> {
    const { changes, lag, resource } = fault
    const { store, setup, network, user } = this.#world
    const revision = changes === undefined ? user.revision : (await store.revision()) - changes
    network.stale(next, resource, Math.max(setup.revision, revision), lag)
  }

  /** Deletes or changes a child, as a user would. */
  async #meddle({ kind, pick }: Extract<Fault, { kind: 'child-deleted' | 'child-changed' }>): Promise<void> {
    const { setup, user, history, log, neighbors } = this.#world
    const candidates: { readonly id: string; readonly child: WrittenObject; readonly object: KubeObject }[] = []
    for (const id of [...log.written.keys()].sort()) {
      const child = log.written.get(id)!
      if (setup.isSubjectKind(child.kind) || untouchableKinds.has(child.kind) || neighbors.has(id)) continue
      const { status, object } = await user.request('GET', child.path)
      if (status !== 200 || object.metadata.deletionTimestamp !== undefined || isFinished(object)) continue
      if ((object.metadata.ownerReferences ?? []).length === 0 && !setup.watchedKinds.has(child.kind)) continue
      // The operator cannot restore an object that it has only changed.
      if (kind === 'child-deleted' && isGiven(setup, id, object)) continue
      candidates.push({ id, child, object })
    }
    const chosen = candidates[pick % Math.max(1, candidates.length)]
    if (chosen === undefined) return
    const { id, child, object } = chosen
    log.data.touch(id)
    if (kind === 'child-deleted') {
      await user.request('DELETE', `${child.path}?propagationPolicy=Background`)
      history.note('user', `A user deletes ${id}`)
      return
    }
    for (const { changed, path } of changeField(object, pick, child.changed)) {
      const { status, object: result } = await user.request('PUT', child.path, changed)
      if (status >= 300) continue
      child.last = result
      history.note('user', `A user changes ${path} of ${id}`)
      return
    }
  }
}

const actionOf = (facts: RequestFacts): Action => ({
  label: `${facts.verb} ${facts.plural}/${facts.subresource}`,
  isChange: isWrite(facts),
})

/** Kinds whose objects hold data or run once, so that an operator need not replace them. */
const untouchableKinds = new Set(['PersistentVolumeClaim', 'PersistentVolume', 'Job', 'Namespace', 'Lease', 'Event'])

/** Whether an object existed before the operator, or was restored by the user. */
const isGiven = ({ inputs, inputObjects }: Setup, id: string, { metadata }: KubeObject): boolean =>
  inputs.has(metadata.uid) || inputObjects.some((input) => input.id === id)

/** Whether an object is a pod whose work is done: then its deletion changes nothing. */
const isFinished = (object: KubeObject): boolean => {
  const { phase } = (object as { status?: { phase?: string } }).status ?? {}
  return object.kind === 'Pod' && (phase === 'Succeeded' || phase === 'Failed')
}
