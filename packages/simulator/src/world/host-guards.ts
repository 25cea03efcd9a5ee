import crypto from 'node:crypto'
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import net from 'node:net'
import { type Clock, type Random, uuid } from '@kubewright/base'

/** The simulated world that code without an injected clock runs in. */
export interface GuardedWorld {
  readonly clock: Clock
  /** The time of Date. */
  readonly wallTime: () => number
  readonly random: Random
  /** Called with a promise rejection that nothing handles. */
  readonly rejected: (reason: unknown) => void
}

const maxReports = 20

/**
 * Puts Date, performance.now, timers, Math.random and the random functions of node:crypto of this Node.js process on the virtual clock and
 * the seeded randomness of the current world, and reports the code that uses them. Sockets and files stay real and are only reported. Code
 * of the framework uses injected clocks and is not affected. Disposal restores the originals.
 */
export class HostGuards implements Disposable {
  readonly #reports = new Set<string>()
  readonly #restore: (() => void)[] = []
  #world: GuardedWorld | undefined
  #captures = 0

  constructor() {
    const guards = this
    const RealDate = globalThis.Date
    class GuardedDate extends RealDate {
      constructor(...parts: unknown[]) {
        const world = parts.length === 0 ? guards.#used('new Date()') : undefined
        super(...((world === undefined ? parts : [world.wallTime()]) as []))
      }
      static override now(): number {
        return guards.#used('Date.now()')?.wallTime() ?? RealDate.now()
      }
    }
    this.#replace(globalThis, 'Date', GuardedDate as DateConstructor)
    const { random } = Math
    this.#replace(Math, 'random', () => guards.#used('Math.random()')?.random.next() ?? random())
    const { now } = performance
    this.#replace(
      performance,
      'now',
      () => guards.#used('performance.now()')?.clock.monotonic() ?? now.call(performance),
    )
    this.#replaceTimers()
    this.#replaceCrypto()
    this.#watchInputs()
    // Named imports of built-in modules see the replacements only after this call.
    syncBuiltinESMExports()
    this.#restore.unshift(() => syncBuiltinESMExports())
    // Other listeners, such as those of test runners, would end the process or fail the test.
    const listeners = process.listeners('unhandledRejection')
    const onRejection = (reason: unknown): void => this.#world?.rejected(reason)
    process.removeAllListeners('unhandledRejection')
    process.on('unhandledRejection', onRejection)
    this.#restore.push(() => {
      process.off('unhandledRejection', onRejection)
      for (const listener of listeners) process.on('unhandledRejection', listener)
    })
  }

  /** What the code used, and where. */
  get reports(): readonly string[] {
    return [...this.#reports]
  }

  /** Enters a world, or leaves it. */
  enter(world: GuardedWorld | undefined): void {
    this.#world = world
  }

  #replaceTimers(): void {
    const { setTimeout, setInterval, clearTimeout, clearInterval } = globalThis
    const cancel = (original: (timer: never) => void) => (timer: unknown) => {
      if (timer instanceof VirtualTimer) timer.cancel()
      else original(timer as never)
    }
    const start =
      (original: typeof setTimeout | typeof setInterval, name: string, repeats: boolean) =>
      (callback: (...parameters: unknown[]) => void, delay = 0, ...parameters: unknown[]) => {
        const world = this.#used(`${name}()`)
        if (world === undefined) return original(callback, delay, ...parameters)
        return new VirtualTimer(world.clock, () => callback(...parameters), Math.max(1, delay), repeats)
      }
    this.#replace(globalThis, 'setTimeout', start(setTimeout, 'setTimeout', false) as typeof setTimeout)
    this.#replace(globalThis, 'setInterval', start(setInterval, 'setInterval', true) as typeof setInterval)
    this.#replace(globalThis, 'clearTimeout', cancel(clearTimeout) as typeof clearTimeout)
    this.#replace(globalThis, 'clearInterval', cancel(clearInterval) as typeof clearInterval)
  }

  #replaceCrypto(): void {
    const { randomUUID, randomBytes, randomInt } = crypto
    const virtualUuid = (): crypto.UUID | undefined => {
      const world = this.#used('crypto.randomUUID()')
      return world && (uuid(world.random) as crypto.UUID)
    }
    this.#replace(crypto, 'randomUUID', ((options) => virtualUuid() ?? randomUUID(options)) as typeof randomUUID)
    this.#replace(
      globalThis.crypto,
      'randomUUID',
      (() => virtualUuid() ?? randomUUID()) as typeof globalThis.crypto.randomUUID,
    )
    const bytes = (size: number, callback?: (error: null, bytes: Buffer) => void): Buffer | undefined => {
      const world = this.#used('crypto.randomBytes()')
      if (world === undefined) return callback ? (randomBytes(size, callback as never) as never) : randomBytes(size)
      const made = Buffer.from(world.random.bytes(size))
      if (callback === undefined) return made
      queueMicrotask(() => callback(null, made))
      return undefined
    }
    this.#replace(crypto, 'randomBytes', bytes as typeof randomBytes)
    const integer = (...parameters: [number] | [number, number]): number => {
      const world = this.#used('crypto.randomInt()')
      const isCallback = typeof parameters.at(-1) === 'function'
      if (world === undefined || isCallback) return (randomInt as (...all: number[]) => number)(...parameters)
      const [low, high] = parameters.length === 1 ? [0, parameters[0]] : parameters
      return low + world.random.int(high - low)
    }
    this.#replace(crypto, 'randomInt', integer as typeof randomInt)
  }

  /** Reports sockets and files, which are not simulated. */
  #watchInputs(): void {
    const report = <T extends object, N extends keyof T & string>(target: T, name: N, what: string): void => {
      const original = target[name] as (...parameters: unknown[]) => unknown
      const guards = this
      const reported = function (this: unknown, ...parameters: unknown[]): unknown {
        guards.#used(what, ' (real, not simulated)')
        return original.apply(this, parameters)
      }
      this.#replace(target, name, Object.assign(reported, original) as T[N])
    }
    report(globalThis, 'fetch', 'fetch()')
    report(net.Socket.prototype, 'connect', 'socket.connect()')
    for (const name of ['readFile', 'readFileSync', 'writeFile', 'writeFileSync', 'appendFileSync'] as const) {
      report(fs, name, `fs.${name}()`)
    }
    for (const name of ['readFile', 'writeFile', 'appendFile'] as const)
      report(fs.promises, name, `fs.promises.${name}()`)
  }

  #replace<T extends object, N extends keyof T>(target: T, name: N, value: T[N]): void {
    const original = target[name]
    target[name] = value
    this.#restore.push(() => {
      target[name] = original
    })
  }

  #used(what: string, note = ''): GuardedWorld | undefined {
    if (this.#world === undefined) return undefined
    if (this.#reports.size < maxReports && this.#captures++ < 1000) {
      const frame = userFrame(new Error(what).stack ?? '')
      if (frame !== undefined) this.#reports.add(`${what} ${frame}${note}`)
    }
    return this.#world
  }

  [Symbol.dispose](): void {
    for (const restore of this.#restore.splice(0).reverse()) restore()
  }
}

/** A timer of user code on the virtual clock. */
class VirtualTimer {
  readonly #clock: Clock
  #timer: { cancel(): void }

  constructor(clock: Clock, run: () => void, delay: number, repeats: boolean) {
    this.#clock = clock
    const tick = (): void => {
      if (repeats) this.#timer = this.#clock.setTimer(delay, tick, 'setInterval')
      run()
    }
    this.#timer = clock.setTimer(delay, tick, repeats ? 'setInterval' : 'setTimeout')
  }

  cancel(): void {
    this.#timer.cancel()
  }

  ref(): this {
    return this
  }

  unref(): this {
    return this
  }

  hasRef(): boolean {
    return true
  }

  [Symbol.dispose](): void {
    this.cancel()
  }
}

// The folder of the packages in a checkout, or of the installed packages.
const ownFolder = new URL('../../../', import.meta.url).pathname

/** The innermost frame of a stack that is in user code. */
export function userFrame(stack: string): string | undefined {
  for (const line of stack.split('\n').slice(1)) {
    const frame = line.trim()
    // A frame without a line number belongs to the language, such as Promise.all.
    if (!/^at .*:\d+:\d+\)?$/.test(frame) || /node_modules|\(?node:|<anonymous>\)?$/.test(frame)) continue
    if (frame.includes(ownFolder) && !/\.test\.ts|\/testdata\//.test(frame)) continue
    return frame
  }
  return undefined
}
