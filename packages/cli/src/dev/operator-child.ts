import { type ChildProcess, spawn } from 'node:child_process'
import type { Clock } from '@kubewright/base'
import type { FromOperator, ToOperator } from './dev-messages.ts'
import { operatorProcessVariable } from './operator-process.ts'

/** What {@link OperatorChild} is started with. */
export interface OperatorChildOptions {
  /** What starts this program: Node, its options and the file. */
  readonly program: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  readonly clock: Clock
  /** The module. */
  readonly entry: string
  readonly flags: readonly string[]
  readonly kubeconfig: string
  /** Called each time it has nothing to do. */
  readonly onIdle: () => void
}

/** What an operator said when it was loaded. */
export type Loaded = Extract<FromOperator, { readonly type: 'loaded' }>

// Longer than the operator itself allows its reconciles.
const stopMillis = 10_000

/** The process of an operator: loads it, then waits for `go`. It writes to the same terminal. */
export class OperatorChild {
  readonly #child: ChildProcess
  readonly #clock: Clock
  /** Resolves with what was loaded; with undefined when the process ended before. */
  readonly loaded: Promise<Loaded | undefined>
  /** Resolves with true when the operator works; with false when the process ended before. */
  readonly ready: Promise<boolean>
  /** Resolves with the exit code, or the signal that ended it. */
  readonly exited: Promise<number | string>
  #isStopping = false

  constructor(options: OperatorChildOptions) {
    const { program, env, entry, flags, kubeconfig } = options
    const [node = process.execPath, ...args] = program
    this.#clock = options.clock
    this.#child = spawn(node, [...args, 'dev', entry, '--', ...flags], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      // Also for what the operator's own code connects to: it must never be another cluster by accident.
      env: { ...env, KUBECONFIG: kubeconfig, [operatorProcessVariable]: '1' },
    })
    this.exited = new Promise((resolve) => {
      this.#child.once('exit', (code, signal) => resolve(code ?? signal ?? 'unknown'))
      this.#child.once('error', (error) => resolve(error.message))
    })
    this.loaded = Promise.race([this.#message('loaded'), this.exited.then(() => undefined)])
    this.ready = Promise.race([this.#message('ready').then(() => true), this.exited.then(() => false)])
    this.#child.on('message', ({ type }: FromOperator) => type === 'idle' && options.onIdle())
  }

  /** Whether it was told to end. */
  get isStopping(): boolean {
    return this.#isStopping
  }

  go(): void {
    this.#send({ type: 'go' })
  }

  /** Has the operator finish what it is doing, and ends it the hard way should that take too long. */
  async stop(): Promise<void> {
    this.#isStopping = true
    this.#send({ type: 'stop' })
    const timer = this.#clock.setTimer(stopMillis, () => void this.#child.kill('SIGKILL'), 'stop operator')
    await this.exited
    timer.cancel()
  }

  #send(message: ToOperator): void {
    // A process that is gone needs no message.
    if (this.#child.connected) this.#child.send(message, () => undefined)
  }

  #message<T extends FromOperator['type']>(type: T): Promise<Extract<FromOperator, { readonly type: T }>> {
    return new Promise((resolve) => {
      this.#child.on('message', (message: FromOperator) => {
        if (message.type === type) resolve(message as Extract<FromOperator, { readonly type: T }>)
      })
    })
  }
}
