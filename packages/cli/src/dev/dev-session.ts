import { CaughtError, type Clock } from '@kubewright/base'
import type { ApiClient } from '@kubewright/client'
import type { ControllerCommand, DebugReport } from '@kubewright/runtime'
import { interruptedCode } from '../terminal/interrupted-error.ts'
import { plural } from '../text/plural.ts'
import type { ActivityLog } from './activity-log.ts'
import { installDefinition } from './install-definitions.ts'
import { type Loaded, OperatorChild, type OperatorChildOptions } from './operator-child.ts'
import { removeLocalWebhooks } from './remove-local-webhooks.ts'

/** The parts of a {@link DevSession}. */
export interface DevSessionOptions {
  /** How the operator process is started. */
  readonly child: OperatorChildOptions
  /** A client of the control plane. */
  readonly client: ApiClient
  readonly clock: Clock
  readonly log: ActivityLog
  /** The module, relative to the current folder. */
  readonly entry: string
  /** Grants the permissions of a loaded operator before it runs. @default nothing */
  readonly grant?: ((loaded: Loaded) => Promise<void>) | undefined
  /** Called each time an operator is loaded and takes over. */
  readonly onLoaded: (loaded: Loaded) => void
  /** Called when no operator runs, because it could not be loaded or has exited. */
  readonly onFailed: () => void
  /** Whether a failure ends the session, instead of waiting for the next change of the code. */
  readonly isOnce: boolean
}

/**
 * Keeps an operator running while its code changes. New code is loaded in a new process while the old one works. Only if it loads and the
 * API server accepts its CRDs, the old process is stopped and the new one takes over. Otherwise the old one stays.
 */
export class DevSession implements AsyncDisposable {
  readonly #options: DevSessionOptions
  #working: OperatorChild | undefined
  #loading: OperatorChild | undefined
  /** Whether the code has changed since the current load began. */
  #isStale = false
  /** The running load loop. There is at most one. */
  #work: Promise<void> | undefined
  /** The clean-up after the last working process. */
  #ending: Promise<void> | undefined
  #isDisposed = false

  constructor(options: DevSessionOptions) {
    this.#options = options
  }

  /** Loads the operator. Abandons a load that is in progress. */
  load(): void {
    if (this.#isDisposed) return
    this.#isStale = true
    void this.#loading?.stop()
    this.#work ??= this.#loadWhileStale().finally(() => {
      this.#work = undefined
    })
  }

  /** The state of the running operator, for the console. Rejects while none runs. */
  async report(signal: AbortSignal): Promise<DebugReport> {
    return this.#running().report(signal)
  }

  /** Pauses, steps or resumes a controller of the running operator. Rejects while none runs. */
  async control(controller: string, command: ControllerCommand): Promise<void> {
    await this.#running().control(controller, command)
  }

  #running(): OperatorChild {
    if (this.#working === undefined)
      throw new CaughtError('No operator is running: the terminal of kubewright dev shows why')
    return this.#working
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isDisposed = true
    this.#isStale = false
    await Promise.all([this.#loading?.stop(), this.#working?.stop()])
    await this.#work
    await this.#ending
  }

  async #loadWhileStale(): Promise<void> {
    const { log, entry, onFailed } = this.#options
    while (this.#isStale) {
      this.#isStale = false
      try {
        await this.#loadOnce()
      } catch (error) {
        log.problem(entry, 'could not be started', error)
        onFailed()
      }
    }
  }

  async #loadOnce(): Promise<void> {
    const { child: childOptions, clock, log, grant, onLoaded } = this.#options
    const started = clock.monotonic()
    const child = new OperatorChild(childOptions)
    this.#loading = child
    const loaded = await child.loaded
    if (loaded === undefined || !(await this.#install(child, loaded))) {
      this.#loading = undefined
      // Ctrl-C reaches both processes, and the child may exit before this process handles the signal.
      const isInterrupted = loaded === undefined && ['SIGINT', interruptedCode].includes(await child.exited)
      if (!isInterrupted) this.#reportFailedLoad()
      return
    }
    if (child.isStopping) {
      await child.exited
      this.#loading = undefined
      return
    }
    try {
      await grant?.(loaded)
    } catch (error) {
      await child.stop()
      this.#loading = undefined
      throw error
    }
    const before = this.#working
    if (before) await before.stop()
    // Webhooks of the old process must be gone before the new one registers its own.
    await this.#ending
    this.#loading = undefined
    if (this.#isDisposed) {
      await child.stop()
      return
    }
    this.#working = child
    this.#ending = child.exited.then((code) => this.#ended(child, loaded, code))
    child.go()
    onLoaded(loaded)
    // Not awaited: an operator that never becomes ready can still be replaced.
    void child.ready.then((isReady) => {
      const took = Math.round(clock.monotonic() - started)
      if (isReady) log.write(loaded.operator, `${before ? 'reloaded' : 'started'} in ${took} ms: ${partsOf(loaded)}`)
    })
  }

  /** Installs the operator's CRDs. Resolves to whether the API server accepted all of them. */
  async #install(child: OperatorChild, { definitions }: Loaded): Promise<boolean> {
    const { client, clock, log } = this.#options
    for (const definition of definitions) {
      if (child.isStopping) return true
      const { name } = definition.metadata
      try {
        const result = await installDefinition(client, definition, clock)
        if (result !== 'unchanged') log.write(name, `CRD ${result}`)
      } catch (error) {
        log.problem(name, 'CRD rejected', error)
        await child.stop()
        return false
      }
    }
    return true
  }

  #reportFailedLoad(): void {
    const { log, entry, onFailed, isOnce } = this.#options
    // Abandoned in favour of the next load, or because the session ends.
    if (this.#isStale || this.#isDisposed) return
    if (isOnce) log.write(entry, 'not started', 'red')
    else if (this.#working) log.write(entry, 'previous version keeps running; waiting for the next change', 'yellow')
    else log.write(entry, 'waiting for the next change', 'yellow')
    onFailed()
  }

  async #ended(child: OperatorChild, loaded: Loaded, code: number | string): Promise<void> {
    const { operator } = loaded
    const { log, client, onFailed, isOnce } = this.#options
    if (this.#working === child) this.#working = undefined
    // A process that was killed could not remove its webhooks, and without a server they block all writes.
    if (code !== 0) {
      await removeLocalWebhooks(client, loaded).catch((error: unknown) =>
        log.problem(operator, 'left webhooks that could not be removed', error),
      )
    }
    if (child.isStopping || this.#isDisposed) return
    log.write(operator, `exited with ${code}${isOnce ? '' : '; waiting for the next change'}`, 'red')
    onFailed()
  }
}

function partsOf({ controllers, webhooks, conversions }: Loaded): string {
  const parts: string[] = []
  if (controllers.length > 0) parts.push(`${plural(controllers.length, 'controller')} (${controllers.join(', ')})`)
  if (webhooks > 0) parts.push(plural(webhooks, 'webhook'))
  if (conversions > 0) parts.push(plural(conversions, 'conversion'))
  return parts.length === 0 ? 'no controllers or webhooks' : parts.join(', ')
}
