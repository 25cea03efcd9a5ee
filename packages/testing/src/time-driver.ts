import { type Clock, type Duration, drainMicrotasks, KubewrightError, type VirtualClock } from '@kubewright/base'

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

// In-process requests take a few event loop turns each; virtual time does not advance while one may be in flight.
const patience = 20

/** A driver for virtual time, which advances with `advance()` and during waits. */
export function virtualTime(clock: VirtualClock): TimeDriver {
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
    turn: drainMicrotasks,
    async wait(work) {
      let settled = false
      const done = work.finally(() => {
        settled = true
      })
      // The caller handles the rejection of `done`; this only prevents an unhandled rejection while the loop runs.
      done.catch(() => undefined)
      while (!settled) {
        for (let turn = 0; turn < patience && !settled; turn++) await drainMicrotasks()
        if (!settled) await exclusively(async () => void (settled || (await clock.advanceToNext())))
      }
      return done
    },
  }
}
