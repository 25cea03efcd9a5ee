import type { Fault, FaultContext, Injection } from '../define/define-fault.ts'
import { isWrite, type RequestFacts } from '../define/request-facts.ts'
import type { Action } from '../plan/fault-points.ts'
import { stopInDebugger } from './debugger.ts'
import type { SimulatedProcess } from './process.ts'
import type { World } from './world.ts'

/** Counts the actions of the operator in one run, and executes the faults of the schedule at them. */
export class FaultInjector {
  readonly #world: World
  /** The faults that have happened. */
  readonly fired: Set<Fault> = new Set()
  /** The actions, in order. */
  readonly log: Action[] = []
  injections = 0
  #end = 0

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

  /** Begins an action of the operator: executes the faults at it, and returns what they do to the action itself. */
  act(process: SimulatedProcess, text: string, request: RequestFacts | undefined, source?: string): Injection {
    const { schedule, history, setup } = this.#world
    this.log.push(request === undefined ? { label: text, isChange: true } : actionOf(request))
    const number = this.actions
    let injection: Injection = {}
    for (const fault of schedule.faults) {
      if (number < fault.at || number > setup.faults.lastActionOf(fault)) continue
      const definition = setup.faults.of(fault)
      this.injections++
      if (!this.fired.has(fault)) {
        this.fired.add(fault)
        const description = definition.describe(fault, text)
        if (this.#world.isInspected) stopInDebugger(description)
        history.note('fault', `Fault: ${description}`, source)
      }
      this.#lasts(definition.isDelayed ? 0 : definition.duration(fault))
      injection = {
        ...injection,
        ...(definition.inject(fault, this.#context(process, request)) as Injection | undefined),
      }
    }
    if (request === undefined) history.note('operator', `The operator calls ${text}`)
    return injection
  }

  #lasts(millis: number): void {
    this.#end = Math.max(this.#end, this.#world.now + millis)
  }

  #context(process: SimulatedProcess, request: RequestFacts | undefined): FaultContext {
    const { network, cluster, clock, history } = this.#world
    return {
      process,
      request,
      network,
      cluster,
      note: (actor, text) => history.note(actor, text),
      lasts: (millis) => this.#lasts(millis),
      later: (millis, run) => {
        this.#lasts(millis)
        clock.setTimer(millis, run, 'fault')
      },
    }
  }
}

const actionOf = (facts: RequestFacts): Action => ({
  label: `${facts.verb} ${facts.plural}/${facts.subresource}`,
  isChange: isWrite(facts),
})
