import { drainMicrotasks } from './system-clock.ts'

/** Work on fewer bytes than this is short. */
const shortWork = 1024 * 1024

/**
 * Gives the event loop a turn after a step of work on so many bytes: `const turn = turnAfter(bytes); if (turn) await turn`. Returns undefined
 * after short work. A request on a large object is done in such steps, so other requests wait for one step only. Whether there is a turn
 * depends on the bytes, not on the time, so a run stays reproducible.
 */
export function turnAfter(bytes: number): Promise<void> | undefined {
  return bytes < shortWork ? undefined : drainMicrotasks()
}

/** Counts the bytes of many small steps of work and gives the event loop a turn when they are together as long as a large one. */
export class Stretch {
  readonly #most: number
  #bytes = 0

  /** `most` bytes of work are done between two turns. */
  constructor(most: number) {
    this.#most = most
  }

  /** Counts the bytes of the next step. Returns the turn to await before it when the bytes before it are enough. */
  before(bytes: number): Promise<void> | undefined {
    const isOver = this.#bytes > 0 && this.#bytes + bytes > this.#most
    this.#bytes = isOver ? bytes : this.#bytes + bytes
    return isOver ? drainMicrotasks() : undefined
  }
}
