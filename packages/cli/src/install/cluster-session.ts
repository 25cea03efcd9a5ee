import { type Clock, type Duration, type FlagValues, UsageError } from '@kubewright/base'
import { type ApiClient, connect } from '@kubewright/client'
import type { CommandContext } from '../command/command-context.ts'
import type { Manifest } from '../manifests/manifest.ts'
import { paintDiff } from '../terminal/colors.ts'
import { questionsFor } from '../terminal/questions.ts'
import { fitted, noTerminal, type Terminal } from '../terminal/terminal.ts'
import { plural } from '../text/plural.ts'
import { type AppliedObject, applyObject } from './apply-objects.ts'
import type { changeFlags } from './change-flags.ts'
import type { InstalledObject } from './find-installed.ts'
import { changeName, changeOf, changeText, installManager, type ObjectChange } from './installed-object.ts'
import { type RemoveOptions, removeObject } from './remove-objects.ts'
import { showDifference } from './show-difference.ts'
import type { WaitForObjectsOptions } from './wait-for-objects.ts'

/** The options of a {@link ClusterSession}: the values of the flags that all commands share, with the same defaults. */
export type SessionOptions = Partial<FlagValues<typeof changeFlags>>

/** A command that changes objects of a cluster: applies and removes them, asks the user, and prints the changes. */
export class ClusterSession implements AsyncDisposable {
  readonly client: ApiClient
  readonly signal: AbortSignal
  readonly isDryRun: boolean
  /** Whether the command waits until its changes take effect. */
  readonly waits: boolean
  readonly #clock: Clock
  readonly #timeout: Duration
  readonly #options: SessionOptions
  readonly #context: CommandContext
  readonly #terminal: Terminal
  readonly #changes: ObjectChange[] = []
  readonly #applied: AppliedObject[] = []
  #isIdle = false

  constructor(client: ApiClient, options: SessionOptions, context: CommandContext) {
    this.client = client
    this.signal = context.signal
    this.isDryRun = options['dry-run'] ?? false
    this.waits = (options.wait ?? true) && !this.isDryRun
    this.#clock = context.clock
    this.#timeout = options.timeout ?? '2m'
    this.#options = options
    this.#context = context
    this.#terminal = context.terminal ?? noTerminal
  }

  /** Connects to the cluster that the options select. */
  static async open(options: SessionOptions, context: CommandContext): Promise<ClusterSession> {
    const { kubeconfig, context: named } = options
    const onWarning = (text: string): void => context.note(`Warning: ${text}`)
    const client = await connect({ kubeconfig, context: named, onWarning, userAgent: 'kubewright' })
    context.terminal?.progress?.show(`Connecting to ${client.rest.transport.host}`)
    return new ClusterSession(client, options, context)
  }

  /**
   * Connects, works, prints the result and closes the connection. Resolves to the exit code: 1 if `work` resolves to false because the
   * user declined.
   */
  static async work(
    options: SessionOptions,
    context: CommandContext,
    work: (session: ClusterSession) => Promise<boolean | void>,
  ): Promise<number> {
    const session = await ClusterSession.open(options, context)
    try {
      if ((await work(session)) === false) {
        session.note('Nothing was changed')
        return 1
      }
      session.finish()
      return 0
    } finally {
      await session[Symbol.asyncDispose]()
    }
  }

  /** The options of waits. */
  get waiting(): WaitForObjectsOptions {
    const { client, signal } = this
    return {
      client,
      signal,
      clock: this.#clock,
      timeout: this.#timeout,
      onWait: (text) => this.#showWait(text),
      onEvent: (text) => this.note(text),
      onReady: (object, took) => this.note(`${changeName(object)} is ready after ${took}`),
    }
  }

  /** Prints a line that is not part of the result. */
  note(line: string): void {
    this.#context.note(line)
  }

  /** Prints that there is nothing to do, and why. */
  idle(why: string): void {
    this.#isIdle = true
    this.note(`Nothing to do: ${why}`)
  }

  /** Applies an object. On a dry run, prints the difference instead. */
  async apply(object: Manifest, operator: string): Promise<AppliedObject> {
    const { client, signal, isDryRun: dryRun } = this
    const applied = await applyObject(object, { client, operator, dryRun, signal })
    this.#applied.push(applied)
    this.#record(applied.change, dryRun ? showDifference(applied) : undefined)
    return applied
  }

  /** The objects that {@link apply} has applied, in this order. */
  get applied(): readonly AppliedObject[] {
    return this.#applied
  }

  /** Applies the earlier fields of an object again. */
  async restore(object: Manifest): Promise<void> {
    const { client, signal } = this
    await client.apply(object as never, { force: true, fieldManager: installManager, signal })
    this.#record(changeOf(object, 'restored'))
  }

  /** Removes an object. On a dry run, only prints it. */
  async remove(installed: InstalledObject, options: Partial<Pick<RemoveOptions, 'wait' | 'fix'>> = {}): Promise<void> {
    const { client, signal } = this
    if (this.isDryRun) return this.#record(changeOf(installed.object, 'deleted'))
    const { wait = this.waits, fix } = options
    this.#record(await removeObject(installed, { ...this.waiting, client, signal, wait, fix }))
  }

  /** Prints that an object stays although it is no longer needed. */
  keep({ object }: InstalledObject): void {
    this.#record(changeOf(object, 'kept'))
  }

  /** Whether {@link confirm} gets an answer instead of throwing. */
  get canAsk(): boolean {
    return this.isDryRun || this.#options.yes === true || this.#context.interaction !== undefined
  }

  /**
   * Asks whether objects, such as "2 objects of homes", may be deleted. `--yes` answers yes. Throws {@link UsageError} if there is no
   * user to ask.
   */
  async confirm(loss: string): Promise<boolean> {
    if (this.isDryRun) this.note(`This would delete ${loss}, which cannot be undone.`)
    if (this.isDryRun || this.#options.yes) return true
    const { interaction } = this.#context
    if (interaction === undefined)
      throw new UsageError(`This deletes ${loss}, which cannot be undone: repeat it with --yes to confirm`)
    this.#terminal.progress?.clear()
    this.note(`This deletes ${loss}, which cannot be undone.`)
    return questionsFor(interaction, false, (line) => this.note(line)).confirm('Continue?', false)
  }

  /** Prints the summary of a dry run, and the result as JSON if `--output json` is on. */
  finish(): void {
    if (this.isDryRun && !this.#isIdle) {
      const count = this.#changes.filter(({ change }) => change !== 'unchanged' && change !== 'kept').length
      this.note(count === 0 ? 'Nothing to change' : `Nothing was changed: ${plural(count, 'object')} would be`)
    }
    if (this.#options.output === 'json') {
      this.#context.out(JSON.stringify({ dryRun: this.isDryRun, changes: this.#changes }, null, 2))
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.client[Symbol.asyncDispose]()
  }

  #record(change: ObjectChange, lines?: readonly string[]): void {
    this.#changes.push(change)
    this.#terminal.progress?.clear()
    if (this.#options.output === 'json') return
    const { out } = this.#context
    const { paint } = this.#terminal
    if (lines === undefined) out(fitted(changeText(change, this.isDryRun ? ' (dry run)' : '', paint), this.#terminal))
    else for (const line of lines) out(paintDiff(line, paint))
  }

  /** Shows what the command waits for: as progress if the terminal can redraw it, else as a line. */
  #showWait(text: string): void {
    const { progress } = this.#terminal
    if (progress === undefined) this.note(text)
    else progress.show(text)
  }
}
