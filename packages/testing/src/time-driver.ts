import { type Clock, type Duration, drainMicrotasks, KubewrightError, type VirtualClock } from '@kubewright/base'

/** How time passes in an environment. */
export interface TimeDriver {
  readonly clock: Clock
  /** Waits for work to be done. In virtual time, time passes meanwhile as far as it takes. */
  wait<T>(work: Promise<T>): Promise<T>
  /** Lets time pass; only in virtual time. */
  advance(by: Duration): Promise<void>
  /** Lets everything run that can run without time passing. */
  turn(): Promise<void>
}

/** Time as it is. */
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

// Requests in process take a few turns of the event loop each; time stands still as long as there may be any.
const patience = 20

/** Time that passes when it is told to, and while somebody waits. */
export function virtualTime(clock: VirtualClock): TimeDriver {
  // One at a time: the clock refuses two advances at once, and tests like to wait for several things together.
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
      // Whoever awaits the result is told; the loop only needs to know that it is over.
      done.catch(() => undefined)
      while (!settled) {
        for (let turn = 0; turn < patience && !settled; turn++) await drainMicrotasks()
        if (!settled) await exclusively(async () => void (settled || (await clock.advanceToNext())))
      }
      return done
    },
  }
}
