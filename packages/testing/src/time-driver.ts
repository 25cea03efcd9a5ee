import {
  type Clock,
  type Duration,
  drainMicrotasks,
  KubewrightError,
  systemClock,
  VirtualClock,
} from '@kubewright/base'
import { RealWork } from './real-work.ts'

/** Controls how time passes in an environment. */
export interface TimeDriver {
  readonly clock: Clock
  /** Waits for a promise. Virtual time advances as far as needed meanwhile. */
  wait<T>(work: Promise<T>): Promise<T>
  /** Advances the time. Requires virtual time. */
  advance(by: Duration): Promise<void>
  /** Runs everything that can run without time passing. */
  turn(): Promise<void>
}

/** A driver for real time. */
export function realTime(clock: Clock): TimeDriver {
  return {
    clock,
    wait: (work) => work,
    advance: () =>
      Promise.reject(
        new KubewrightError(
          'KW_TEST_REAL_TIME',
          "Cannot advance the time: the environment runs in real time, start it with { time: 'virtual' }",
        ),
      ),
    turn: drainMicrotasks,
  }
}

/** Options of {@link virtualTime}. */
export interface VirtualTimeOptions {
  /** Wall time at the start, in epoch milliseconds. @default the start of a `VirtualClock` */
  readonly start?: number | undefined
  /** Whether code of the user runs, which may wait for files, sockets or timers of this process. */
  readonly isUserCodeRunning: () => boolean
  /** The number of requests over sockets that have no response yet. Undefined when requests are function calls. */
  readonly requestsInFlight?: (() => number) | undefined
  /** Called at every turn of the event loop. */
  readonly onTurn?: (() => void) | undefined
}

// Over sockets, a change takes several turns of the event loop to reach a watch, even after the last response.
const turnsOverSockets = 20

/**
 * A driver for virtual time, which advances with `advance()` and during waits.
 *
 * In process, every part of the environment waits for promises only, so one turn of the event loop runs everything that
 * can run. After that turn all of them wait for time, and the next timer runs. The history of an environment therefore
 * does not depend on the speed of the machine. User code may also wait for real I/O; see {@link RealWork}.
 */
export function virtualTime(options: VirtualTimeOptions): TimeDriver {
  const { start, isUserCodeRunning, requestsInFlight, onTurn } = options
  const realWork = new RealWork(() => (requestsInFlight?.() ?? 0) > 0, isUserCodeRunning)
  const turns = requestsInFlight === undefined ? 1 : turnsOverSockets
  const turn = async (): Promise<void> => {
    do {
      for (let i = 0; i < turns; i++) await drainMicrotasks()
      onTurn?.()
    } while (await realWork.delay())
  }
  const clock = new VirtualClock({ ...(start === undefined ? {} : { start }), settle: turn })
  // Serialized, because the clock rejects concurrent advances and tests may await several things at once.
  let driving: Promise<void> = Promise.resolve()
  const exclusively = <T>(work: () => Promise<T>): Promise<T> => {
    const next = driving.then(work)
    driving = next.then(
      () => undefined,
      () => undefined,
    )
    return next
  }
  return {
    clock,
    advance: (by) => exclusively(() => clock.advance(by)),
    turn,
    async wait(work) {
      let settled = false
      const done = work.finally(() => {
        settled = true
      })
      // The caller handles the rejection of `done`; this only prevents an unhandled rejection while the loop runs.
      done.catch(() => undefined)
      while (!settled) {
        const advanced = await exclusively(async () => {
          await turn()
          return settled || clock.advanceToNext()
        })
        // Without a timer, only real work can settle the promise.
        if (!advanced) await systemClock.sleep(1)
      }
      return done
    },
  }
}
