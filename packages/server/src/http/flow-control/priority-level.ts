import type { Clock, Timer } from '@kubewright/base'
import type * as flowcontrol from '@kubewright/k8s/flowcontrol/v1'

/** Why a request was rejected, with the words of kube-apiserver's metrics. */
export type RejectReason = 'concurrency-limit' | 'queue-full' | 'time-out' | 'cancelled'

/** How long a request waits in a queue: a quarter of the default request timeout, as in kube-apiserver. */
const queueWait = 15_000
/** The hands of flows that are remembered. */
const maxHands = 4096

interface Waiting {
  readonly seats: number
  readonly settle: (rejected: RejectReason | undefined) => void
}

interface Queue {
  readonly waiting: Waiting[]
  /** The virtual time at which its next request starts. The queue with the earliest one is served first. */
  start: number
}

/** The seats of a server, which its priority levels share. */
export class SeatPool {
  total = 0
  levels: readonly PriorityLevel[] = []
  /** For each level, its guaranteed seats, or those that it uses if they are more. Never more than `total`, except for single wide requests. */
  reserved = 0
  /** Requests in all queues. */
  waiting = 0

  /** Replaces the levels and their limits. Requests that run or wait keep their seats and places. */
  configure(levels: readonly PriorityLevel[], total: number): void {
    this.levels = levels
    this.total = total
    // Exempt levels take no seats of others.
    this.reserved = levels.reduce(
      (sum, level) => sum + (level.isExempt ? 0 : Math.max(level.executing, level.guaranteed)),
      0,
    )
    this.dispatch()
  }

  /** Starts waiting requests while there are seats: of the levels that use the smallest part of their own seats first. */
  dispatch(): void {
    while (this.waiting > 0) {
      const next = this.levels
        .filter((level) => level.waiting > 0)
        .sort((a, b) => a.executing / a.nominal - b.executing / b.nominal)
        .find((level) => level.dispatch())
      if (!next) return
    }
  }
}

/**
 * A priority level: its seats, and the queues in which requests wait for them.
 *
 * A level has a nominal number of seats. Others may use the lendable part of it while the level does not, and the level may use lendable seats
 * of others, up to its borrowing limit. Unlike kube-apiserver, which moves limits between levels every ten seconds, a level borrows seats when
 * it needs them.
 */
export class PriorityLevel {
  readonly name: string
  uid = ''
  isExempt = false
  nominal = 1
  /** The seats that no other level can use. */
  guaranteed = 0
  /** The most seats, with borrowed ones. */
  most = 1
  executing = 0
  executingRequests = 0
  waiting = 0
  dispatched = 0
  readonly rejected: Record<RejectReason, number> = {
    'concurrency-limit': 0,
    'queue-full': 0,
    'time-out': 0,
    cancelled: 0,
  }
  readonly #pool: SeatPool
  readonly #clock: Clock
  #queues: Queue[] = []
  #handSize = 0
  #queueLength = 0
  #virtualTime = 0
  readonly #hands = new Map<string, readonly number[]>()

  constructor(name: string, pool: SeatPool, clock: Clock) {
    this.name = name
    this.#pool = pool
    this.#clock = clock
  }

  get activeQueues(): number {
    return this.#queues.filter(({ waiting }) => waiting.length > 0).length
  }

  /** Sets the limits. `seats` is the nominal number of seats. */
  configure({ metadata, spec }: flowcontrol.PriorityLevelConfiguration, seats: number): void {
    this.uid = metadata?.uid ?? ''
    this.isExempt = spec?.type === 'Exempt'
    this.nominal = Math.max(1, seats)
    const share = this.isExempt ? spec?.exempt : spec?.limited
    const lendable = Math.round((this.nominal * (share?.lendablePercent ?? 0)) / 100)
    this.guaranteed = this.isExempt ? 0 : this.nominal - lendable
    const borrowing = spec?.limited?.borrowingLimitPercent
    this.most =
      borrowing === undefined || borrowing === null
        ? Number.POSITIVE_INFINITY
        : this.nominal + Math.round((this.nominal * borrowing) / 100)
    const { type, queuing } = spec?.limited?.limitResponse ?? {}
    const count = type === 'Queue' ? (queuing?.queues ?? 64) : 0
    this.#handSize = Math.min(queuing?.handSize ?? 8, count)
    this.#queueLength = queuing?.queueLengthLimit ?? 50
    this.#hands.clear()
    // Queues are only added: requests of removed ones would lose their places.
    while (this.#queues.length < count) this.#queues.push({ waiting: [], start: 0 })
    if (this.#queues.slice(count).every(({ waiting }) => waiting.length === 0)) this.#queues.length = count
  }

  /**
   * Takes seats, after waiting in a queue if there are none. Resolves to undefined when the request may run; the caller must then call
   * {@link release}. Otherwise resolves to the reason of the rejection.
   */
  take(
    flow: () => string,
    seats: number,
    request: { readonly signal: AbortSignal },
  ): Promise<RejectReason | undefined> | undefined {
    // Requests that wait go first.
    if (this.isExempt || (this.waiting === 0 && this.#hasRoom(seats))) {
      this.#start(seats)
      return undefined
    }
    if (this.#handSize === 0) return Promise.resolve(this.#reject('concurrency-limit'))
    const queue = this.#shortest(flow())
    if (queue.waiting.length >= this.#queueLength) return Promise.resolve(this.#reject('queue-full'))
    // Reading the signal creates it, which requests that need not wait avoid.
    return this.#enqueue(queue, seats, request.signal)
  }

  /** Returns the seats of a request that has ended. */
  release(seats: number): void {
    this.#change(-seats)
    this.executingRequests--
    if (this.#pool.waiting > 0) this.#pool.dispatch()
  }

  /** Starts the next request that waits. Returns false if none waits or there is no room for it. */
  dispatch(): boolean {
    let next: Queue | undefined
    for (const queue of this.#queues) {
      if (queue.waiting.length > 0 && (!next || queue.start < next.start)) next = queue
    }
    const request = next?.waiting[0]
    if (!next || !request || !this.#hasRoom(request.seats)) return false
    next.waiting.shift()
    this.#virtualTime = next.start
    next.start += request.seats
    this.#count(-1)
    this.#start(request.seats)
    request.settle(undefined)
    return true
  }

  #enqueue(queue: Queue, seats: number, signal: AbortSignal): Promise<RejectReason | undefined> {
    return new Promise((resolve) => {
      let timer: Timer | undefined
      const waiting: Waiting = {
        seats,
        settle: (rejected) => {
          timer?.cancel()
          signal.removeEventListener('abort', cancel)
          resolve(rejected)
        },
      }
      const leave = (reason: RejectReason): void => {
        const at = queue.waiting.indexOf(waiting)
        if (at < 0) return
        queue.waiting.splice(at, 1)
        this.#count(-1)
        waiting.settle(this.#reject(reason))
      }
      const cancel = (): void => leave('cancelled')
      timer = this.#clock.setTimer(queueWait, () => leave('time-out'), 'flow control')
      signal.addEventListener('abort', cancel)
      // A queue that was empty does not catch up on the time in which it sent nothing.
      if (queue.waiting.length === 0) queue.start = Math.max(queue.start, this.#virtualTime)
      queue.waiting.push(waiting)
      this.#count(1)
    })
  }

  /** Whether the level may use more seats. A level that uses none may always start a request, however wide it is. */
  #hasRoom(seats: number): boolean {
    if (this.executing === 0) return true
    const next = this.executing + seats
    if (next <= this.guaranteed) return true
    if (next > this.most) return false
    const more = Math.max(next, this.guaranteed) - Math.max(this.executing, this.guaranteed)
    return this.#pool.reserved + more <= this.#pool.total
  }

  #start(seats: number): void {
    this.dispatched++
    this.executingRequests++
    this.#change(seats)
  }

  #change(seats: number): void {
    const before = Math.max(this.executing, this.guaranteed)
    this.executing += seats
    // Exempt requests are not limited and take no seats of others.
    if (!this.isExempt) this.#pool.reserved += Math.max(this.executing, this.guaranteed) - before
  }

  #count(change: number): void {
    this.waiting += change
    this.#pool.waiting += change
  }

  #reject(reason: RejectReason): RejectReason {
    this.rejected[reason]++
    return reason
  }

  /** Shuffle sharding: a flow uses a few of the queues, so that a heavy flow rarely shares all of its queues with another one. */
  #shortest(flow: string): Queue {
    let hand = this.#hands.get(flow)
    if (!hand) {
      if (this.#hands.size >= maxHands) this.#hands.clear()
      hand = dealHand(flow, this.#handSize, this.#queues.length)
      this.#hands.set(flow, hand)
    }
    return hand
      .map((index) => this.#queues[index]!)
      .reduce((best, queue) => (queue.waiting.length < best.waiting.length ? queue : best))
  }
}

/** As many different numbers below `count` as the hand has, determined by the flow alone. */
function dealHand(flow: string, size: number, count: number): number[] {
  // FNV-1a.
  let state = 0x811c9dc5
  for (let i = 0; i < flow.length; i++) state = Math.imul(state ^ flow.charCodeAt(i), 0x01000193) >>> 0
  const hand: number[] = []
  while (hand.length < size) {
    // xorshift, which never becomes 0.
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    state = state >>> 0 || 1
    const index = state % count
    if (!hand.includes(index)) hand.push(index)
  }
  return hand
}
