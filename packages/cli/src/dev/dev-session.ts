import type { Clock } from '@kubewright/base'
import type { ApiClient } from '@kubewright/client'
import { interruptedCode } from '../run-command.ts'
import type { Story } from './activity-log.ts'
import { installDefinition } from './install-definitions.ts'
import { type Loaded, OperatorChild, type OperatorChildOptions } from './operator-child.ts'
import { forgetLocalWebhooks } from './remove-local-webhooks.ts'

/** What a {@link DevSession} is made of. */
export interface DevSessionOptions {
  /** How the operator's process is started. */
  readonly child: OperatorChildOptions
  /** Of the control plane. */
  readonly client: ApiClient
  readonly clock: Clock
  readonly story: Story
  /** The module as people would write it. */
  readonly entry: string
  /** Told what was loaded, each time. */
  readonly onLoaded: (loaded: Loaded) => void
  /** Told that the operator does not work, because it could not be loaded or has ended. */
  readonly onFailed: () => void
  /** Whether a failure is the end, instead of something that the next change of the code may mend. */
  readonly isOnce: boolean
}

/**
 * Keeps an operator running while its code changes. The new code is loaded while the old one works; only when it could be loaded, and
 * its definitions were accepted, the old one is stopped and the new one takes over. Otherwise things stay as they were.
 */
export class DevSession implements AsyncDisposable {
  readonly #options: DevSessionOptions
  #working: OperatorChild | undefined
  #loading: OperatorChild | undefined
  #isAskedFor = false
  #work: Promise<void> | undefined
  #ending: Promise<void> | undefined
  #isOver = false

  constructor(options: DevSessionOptions) {
    this.#options = options
  }

  /** Loads the operator anew. What is still being loaded is given up. */
  load(): void {
    if (this.#isOver) return
    this.#isAskedFor = true
    void this.#loading?.stop()
    this.#work ??= this.#loadWhileAsked().finally(() => {
      this.#work = undefined
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true
    this.#isAskedFor = false
    await Promise.all([this.#loading?.stop(), this.#working?.stop()])
    await this.#work
    await this.#ending
  }

  async #loadWhileAsked(): Promise<void> {
    const { story, entry, onFailed } = this.#options
    while (this.#isAskedFor) {
      this.#isAskedFor = false
      try {
        await this.#loadOnce()
      } catch (error) {
        story.problem(entry, 'could not be started', error)
        onFailed()
      }
    }
  }

  async #loadOnce(): Promise<void> {
    const { child: childOptions, clock, story, onLoaded } = this.#options
    const started = clock.monotonic()
    const child = new OperatorChild(childOptions)
    this.#loading = child
    const loaded = await child.loaded
    if (loaded === undefined || !(await this.#install(child, loaded))) {
      this.#loading = undefined
      // Ctrl-C reaches both processes, and this one may hear of the other's end first.
      const isInterrupted = loaded === undefined && ['SIGINT', interruptedCode].includes(await child.exited)
      if (!isInterrupted) this.#tellStay()
      return
    }
    if (child.isStopping) {
      await child.exited
      this.#loading = undefined
      return
    }
    const before = this.#working
    if (before) await before.stop()
    // What it may have left behind must be gone before the next one registers.
    await this.#ending
    this.#loading = undefined
    if (this.#isOver) {
      await child.stop()
      return
    }
    this.#working = child
    this.#ending = child.exited.then((code) => this.#ended(child, loaded, code))
    child.go()
    onLoaded(loaded)
    // Not waited for: an operator that never gets to work can be replaced, too.
    void child.ready.then((isReady) => {
      const took = Math.round(clock.monotonic() - started)
      if (isReady) story.tell(loaded.operator, `${before ? 'reloaded' : 'runs'} after ${took} ms: ${partsOf(loaded)}`)
    })
  }

  /** Installs the operator's definitions; resolves with whether they were accepted. */
  async #install(child: OperatorChild, { definitions }: Loaded): Promise<boolean> {
    const { client, clock, story } = this.#options
    for (const definition of definitions) {
      if (child.isStopping) return true
      const { name } = definition.metadata
      try {
        const result = await installDefinition(client, definition, clock)
        if (result !== 'unchanged') story.tell(name, `definition ${result}`)
      } catch (error) {
        story.problem(name, 'definition refused', error)
        await child.stop()
        return false
      }
    }
    return true
  }

  #tellStay(): void {
    const { story, entry, onFailed, isOnce } = this.#options
    // Given up for the next one, or for good.
    if (this.#isAskedFor || this.#isOver) return
    if (isOnce) story.tell(entry, 'does not run', 'red')
    else if (this.#working) story.tell(entry, 'goes on running as it was; waiting for the next change', 'yellow')
    else story.tell(entry, 'waiting for the next change', 'yellow')
    onFailed()
  }

  async #ended(child: OperatorChild, { operator }: Loaded, code: number | string): Promise<void> {
    const { story, client, onFailed, isOnce } = this.#options
    if (this.#working === child) this.#working = undefined
    // A process that was cut off leaves registrations behind that would keep everybody from writing.
    if (code !== 0) {
      await forgetLocalWebhooks(client).catch((error: unknown) =>
        story.problem(operator, 'left webhooks behind', error),
      )
    }
    if (child.isStopping || this.#isOver) return
    story.tell(operator, `ended by itself (${code})${isOnce ? '' : '; waiting for the next change'}`, 'red')
    onFailed()
  }
}

function partsOf({ controllers, webhooks, conversions }: Loaded): string {
  const parts: string[] = []
  if (controllers.length > 0) parts.push(`${plural(controllers.length, 'controller')} (${controllers.join(', ')})`)
  if (webhooks > 0) parts.push(plural(webhooks, 'webhook'))
  if (conversions > 0) parts.push(plural(conversions, 'conversion'))
  return parts.length === 0 ? 'nothing but its kinds' : parts.join(', ')
}

const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`
