/** A timer in a {@link TimerQueue}. */
export interface QueuedTimer {
  /** The timer with the lowest value runs first. */
  readonly due: number
  /** The order of timers that are due at the same time. */
  readonly sequence: number
  /** Its position in the queue; -1 when it is not in a queue. Only the queue changes it. */
  index: number
}

/**
 * A priority queue of timers. A timer knows its position, so that removing it needs no look-up: simulations set hundreds of
 * thousands of timers and cancel most of them.
 */
export class TimerQueue<T extends QueuedTimer> {
  readonly #timers: T[] = []

  get size(): number {
    return this.#timers.length
  }

  /** The timer that `pop` would return. */
  peek(): T | undefined {
    return this.#timers[0]
  }

  push(timer: T): void {
    this.#rise(timer, this.#timers.length)
  }

  /** Removes and returns the first timer; undefined if the queue is empty. */
  pop(): T | undefined {
    const first = this.#timers[0]
    if (first !== undefined) this.remove(first)
    return first
  }

  /** Removes a timer, if it is in the queue. */
  remove(timer: T): void {
    const { index } = timer
    if (index < 0) return
    timer.index = -1
    const last = this.#timers.pop()
    if (last === undefined || last === timer) return
    const parent = index > 0 ? this.#timers[(index - 1) >> 1] : undefined
    if (parent !== undefined && isBefore(last, parent)) this.#rise(last, index)
    else this.#sink(last, index)
  }

  /** All timers in the order in which `pop` would return them. */
  sorted(): T[] {
    return [...this.#timers].sort((a, b) => a.due - b.due || a.sequence - b.sequence)
  }

  /** Places a timer at `start` or above it. */
  #rise(timer: T, start: number): void {
    const timers = this.#timers
    let index = start
    while (index > 0) {
      const above = (index - 1) >> 1
      const parent = timers[above]
      if (parent === undefined || !isBefore(timer, parent)) break
      timers[index] = parent
      parent.index = index
      index = above
    }
    timers[index] = timer
    timer.index = index
  }

  /** Places a timer at `start` or below it. */
  #sink(timer: T, start: number): void {
    const timers = this.#timers
    let index = start
    for (;;) {
      let below = 2 * index + 1
      let child = timers[below]
      if (child === undefined) break
      const sibling = timers[below + 1]
      if (sibling !== undefined && isBefore(sibling, child)) {
        child = sibling
        below++
      }
      if (!isBefore(child, timer)) break
      timers[index] = child
      child.index = index
      index = below
    }
    timers[index] = timer
    timer.index = index
  }
}

function isBefore(a: QueuedTimer, b: QueuedTimer): boolean {
  return a.due < b.due || (a.due === b.due && a.sequence < b.sequence)
}
