import { type Clock, Deferred, ProcessClock } from '@kubewright/base'
import type { Manager, Operator } from '@kubewright/runtime'
import type { LocalServer } from '@kubewright/server'
import type { FaultProcess } from '../define/fault-levers.ts'

/** The result of a call that a dead process never receives. */
export const never = <T>(): Promise<T> => new Promise<T>(() => undefined)

type Started = (next: SimulatedProcess) => void

/**
 * One process of the operator. A crash freezes it: its timers never run, its calls never return, and nothing that its
 * code does reaches the server or the world outside the cluster.
 */
export class SimulatedProcess implements FaultProcess {
  readonly name: string
  /** The number of the replica, from 1. */
  readonly replica: number
  readonly clock: ProcessClock
  readonly #onKill = new Set<() => void>()
  readonly #replace: (downtime: number, started: Started) => void
  /** What to do with the next process; undefined if none follows a crash. */
  #successors: Started[] | undefined
  operator: Operator | undefined
  manager: Manager | undefined
  webhooks: LocalServer | undefined
  /** Whether `start` of the manager has ended by itself. */
  hasExited = false
  isDead = false
  #awake: Deferred<void> | undefined

  /** `replace` starts the next process after the downtime. */
  constructor(name: string, replica: number, clock: Clock, replace: (downtime: number, started: Started) => void) {
    this.name = name
    this.replica = replica
    this.#replace = replace
    this.clock = new ProcessClock(clock)
  }

  get works(): boolean {
    return !this.isDead && !this.hasExited
  }

  kill(): void {
    if (this.isDead) return
    this.isDead = true
    this.clock.kill()
    for (const clean of this.#onKill) clean()
    this.#onKill.clear()
  }

  /** Calls `clean` when the process dies. Returns the function that cancels it. */
  onKill(clean: () => void): () => void {
    this.#onKill.add(clean)
    return () => void this.#onKill.delete(clean)
  }

  /** A process that dies of several faults has one successor, after the downtime of the first. */
  restartAfterCrash(downtime: number, started: Started = () => undefined): void {
    if (this.#successors === undefined) {
      const callbacks = (this.#successors = [started])
      this.onKill(() =>
        this.#replace(downtime, (next) => {
          for (const callback of callbacks) callback(next)
        }),
      )
    } else this.#successors.push(started)
  }

  shiftTime(millis: number): void {
    this.clock.setSkew(millis)
  }

  pause(): void {
    this.clock.pause()
    this.#awake ??= new Deferred()
  }

  resume(): void {
    this.clock.resume()
    this.#awake?.resolve()
    this.#awake = undefined
  }

  get isPaused(): boolean {
    return this.#awake !== undefined && !this.isDead
  }

  /** Resolves when the process is not paused. Never resolves for a dead one. */
  async awake(): Promise<void> {
    while (this.#awake !== undefined && !this.isDead) await this.#awake.promise
    if (this.isDead) await never()
  }
}
