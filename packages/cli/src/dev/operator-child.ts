import { type ChildProcess, spawn } from 'node:child_process'
import { CaughtError, type Clock, withDeadline } from '@kubewright/base'
import type { ControllerCommand, DebugReport } from '@kubewright/runtime'
import type { FromOperator, ToOperator } from './dev-messages.ts'

/** How {@link OperatorChild} starts the process. */
export interface OperatorChildOptions {
  /** The command line of the operator process: Node, its options and the file. */
  readonly program: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  readonly clock: Clock
  /** The module of the operator. */
  readonly entry: string
  /** Flags of the operator. */
  readonly flags: readonly string[]
  readonly kubeconfig: string
  /** The port at which a debugger can attach to the running operator. @default none */
  readonly inspect?: number | undefined
  /** Called each time the operator has no work left. */
  readonly onIdle: () => void
}

/** The description of the operator that a process has loaded. */
export type Loaded = Extract<FromOperator, { readonly type: 'loaded' }>

// Longer than the operator itself allows its reconciles.
const stopMillis = 10_000

/** A process that loads an operator, waits for `go` and runs it. It writes to the same terminal. */
export class OperatorChild {
  readonly #child: ChildProcess
  readonly #clock: Clock
  readonly #inspect: number | undefined
  /** Resolves when the operator is loaded; to undefined if the process exits before that. */
  readonly loaded: Promise<Loaded | undefined>
  /** Resolves to true when the operator runs; to false if the process exits before that. */
  readonly ready: Promise<boolean>
  /** Resolves to the exit code, or to the signal that ended the process. */
  readonly exited: Promise<number | string>
  #isStopping = false

  constructor(options: OperatorChildOptions) {
    const { program, env, entry, flags, kubeconfig } = options
    const [node = process.execPath, ...args] = program
    this.#clock = options.clock
    this.#inspect = options.inspect
    this.#child = spawn(node, [...args, entry, ...flags], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      // For all code of the operator: it must never connect to another cluster by accident.
      env: { ...env, KUBECONFIG: kubeconfig },
    })
    this.exited = new Promise((resolve) => {
      this.#child.once('exit', (code, signal) => resolve(code ?? signal ?? 'unknown'))
      this.#child.once('error', (error) => resolve(error.message))
    })
    this.loaded = Promise.race([this.#message('loaded'), this.exited.then(() => undefined)])
    this.ready = Promise.race([this.#message('ready').then(() => true), this.exited.then(() => false)])
    this.#child.on('message', ({ type }: FromOperator) => type === 'idle' && options.onIdle())
  }

  /** Whether {@link stop} has been called. */
  get isStopping(): boolean {
    return this.#isStopping
  }

  /** Lets the loaded operator run. */
  go(): void {
    this.#send({ type: 'go', inspect: this.#inspect })
  }

  /** The state of the running operator. Rejects if the process does not answer. */
  async report(signal: AbortSignal): Promise<DebugReport> {
    const response = this.#message('report')
    this.#send({ type: 'report' })
    const answered = await withDeadline(this.#clock, '5s', 'the operator to report its state', () => response, {
      signal,
    })
    if (answered.report === undefined) throw new CaughtError('The operator is starting')
    return answered.report
  }

  /** Pauses, steps or resumes a controller. Rejects if the operator has no such controller or does not answer. */
  async control(controller: string, command: ControllerCommand): Promise<void> {
    const response = this.#message('controlled')
    this.#send({ type: 'control', controller, command })
    const { isKnown } = await withDeadline(
      this.#clock,
      '5s',
      `the operator to ${command} ${controller}`,
      () => response,
    )
    if (!isKnown) throw new CaughtError(`The operator cannot ${command} the controller "${controller}"`)
  }

  /** Lets running reconciles finish, then ends the process. Kills it if that takes too long. Resolves when it has exited. */
  async stop(): Promise<void> {
    this.#isStopping = true
    this.#send({ type: 'stop' })
    const timer = this.#clock.setTimer(stopMillis, () => void this.#child.kill('SIGKILL'), 'stop operator')
    await this.exited
    timer.cancel()
  }

  #send(message: ToOperator): void {
    // The process may exit between the check and the send: errors are ignored.
    if (this.#child.connected) this.#child.send(message, () => undefined)
  }

  #message<T extends FromOperator['type']>(type: T): Promise<Extract<FromOperator, { readonly type: T }>> {
    return new Promise((resolve) => {
      const listener = (message: FromOperator): void => {
        if (message.type !== type) return
        this.#child.off('message', listener)
        resolve(message as Extract<FromOperator, { readonly type: T }>)
      }
      this.#child.on('message', listener)
    })
  }
}
