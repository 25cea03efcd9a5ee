import { type Clock, type Duration, errorText, parseDuration } from '@kubewright/base'
import { type ApiClient, connect } from '@kubewright/client'
import type { CommandContext } from '../command/command.ts'
import type { Manifest } from '../manifests/manifest.ts'
import { type ScaffoldHost, systemScaffoldHost } from '../scaffold/scaffold-host.ts'
import { paintDiff } from '../terminal/colors.ts'
import { questionsOf } from '../terminal/questions.ts'
import { fitted, noTerminal, type Terminal } from '../terminal/terminal.ts'
import { plural } from '../text/plural.ts'
import { UsageError } from '../usage-error.ts'
import { type AppliedObject, applyObject } from './apply-objects.ts'
import type { InstalledObject } from './find-installed.ts'
import { changeOf, changeText, type ObjectChange } from './installed-object.ts'
import { type RemoveOptions, removeObject } from './remove-objects.ts'
import { showDifference } from './show-difference.ts'
import type { WaitOptions } from './wait-for-rollout.ts'

/** Flags of every command that changes a cluster. */
export const clusterFlags = {
  kubeconfig: 'text',
  context: 'text',
  timeout: 'text',
  wait: 'switch',
  'dry-run': 'switch',
  yes: 'switch',
  output: 'text',
} as const

/** The help of {@link clusterFlags}. */
export const clusterHelp = `  --dry-run          Change nothing; show what would be changed
  --timeout TIME     How long to wait for each thing (default 2m)
  --no-wait          Do not wait
  -y, --yes          Do not ask before something is lost
  --kubeconfig FILE  The cluster (default KUBECONFIG, or ~/.kube/config)
  --context NAME     The context of the kubeconfig
  --output json      Tell what was done as JSON`

/** What {@link clusterFlags} were given. */
export interface ClusterValues {
  readonly kubeconfig?: string | undefined
  readonly context?: string | undefined
  readonly timeout?: string | undefined
  readonly wait?: boolean | undefined
  readonly 'dry-run'?: boolean | undefined
  readonly yes?: boolean | undefined
  readonly output?: string | undefined
}

/** A command at work on a cluster. */
export class ClusterSession implements AsyncDisposable {
  readonly client: ApiClient
  readonly signal: AbortSignal
  readonly isDryRun: boolean
  /** Whether the command waits for what it did to take effect. */
  readonly waits: boolean
  readonly #clock: Clock
  readonly #timeout: Duration
  readonly #values: ClusterValues
  readonly #context: CommandContext
  readonly #terminal: Terminal
  readonly #changes: ObjectChange[] = []
  #isIdle = false

  constructor(client: ApiClient, values: ClusterValues, context: CommandContext) {
    this.client = client
    this.signal = context.signal
    this.isDryRun = values['dry-run'] ?? false
    this.waits = (values.wait ?? true) && !this.isDryRun
    this.#clock = context.clock
    this.#timeout = timeoutOf(values.timeout)
    this.#values = values
    this.#context = context
    this.#terminal = context.terminal ?? noTerminal
  }

  /** Connects to the cluster that the flags name. */
  static async open(values: ClusterValues, context: CommandContext): Promise<ClusterSession> {
    timeoutOf(values.timeout)
    const { kubeconfig, context: named } = values
    const onWarning = (text: string): void => context.note(`Warning: ${text}`)
    const client = await connect({ kubeconfig, context: named, onWarning, userAgent: 'kubewright' })
    context.terminal?.progress?.show(`Asking ${client.rest.transport.host}`)
    return new ClusterSession(client, values, context)
  }

  /** Connects, works, tells the result and closes the connection. Resolves to the exit code: 1 when nothing was done after a question. */
  static async work(
    values: ClusterValues,
    context: CommandContext,
    work: (session: ClusterSession) => Promise<boolean | void>,
  ): Promise<number> {
    const session = await ClusterSession.open(values, context)
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

  get waiting(): WaitOptions {
    const { client, signal } = this
    return { client, signal, clock: this.#clock, timeout: this.#timeout, tell: (text) => this.#wait(text) }
  }

  /** Tells people something that is no result. */
  note(line: string): void {
    this.#context.note(line)
  }

  /** Tells that there is nothing to do, and why. */
  idle(why: string): void {
    this.#isIdle = true
    this.note(`Nothing to do: ${why}`)
  }

  /** Applies an object, or shows what that would change. */
  async apply(object: Manifest, operator: string): Promise<AppliedObject> {
    const { client, signal, isDryRun: dryRun } = this
    const applied = await applyObject(object, { client, operator, dryRun, signal })
    this.#record(applied.change, dryRun ? showDifference(applied) : undefined)
    return applied
  }

  /** Removes an object, or says that it would. */
  async remove(installed: InstalledObject, options: Partial<Pick<RemoveOptions, 'wait' | 'cure'>> = {}): Promise<void> {
    const { client, signal } = this
    if (this.isDryRun) return this.#record(changeOf(installed.object, 'deleted'))
    const { wait = this.waits, cure } = options
    this.#record(await removeObject(installed, { ...this.waiting, client, signal, wait, cure }))
  }

  /** Says that an object stays although it is not needed any more. */
  keep({ object }: InstalledObject): void {
    this.#record(changeOf(object, 'kept'))
  }

  /** Whether {@link confirm} can get an answer. */
  get canAsk(): boolean {
    return this.isDryRun || this.#values.yes === true || this.#host.isInteractive
  }

  /** Whether something, such as "2 objects of homes", may be deleted: somebody has to say so. Without anybody to ask it takes `--yes`. */
  async confirm(loss: string): Promise<boolean> {
    if (this.isDryRun) this.note(`This would delete ${loss}, which cannot be undone.`)
    if (this.isDryRun || this.#values.yes) return true
    const host = this.#host
    if (!host.isInteractive)
      throw new UsageError(`This deletes ${loss}, which cannot be undone: repeat it with --yes if you mean it`)
    this.#terminal.progress?.clear()
    this.note(`This deletes ${loss}, which cannot be undone.`)
    return questionsOf(host, false, (line) => this.note(line)).confirm('Go on?', false)
  }

  /** Tells the result as a whole where that was asked for, and that a dry run was one. */
  finish(): void {
    if (this.isDryRun && !this.#isIdle) {
      const count = this.#changes.filter(({ change }) => change !== 'unchanged' && change !== 'kept').length
      this.note(
        `Nothing was changed: ${count === 0 ? 'all is as it should be' : `${plural(count, 'object')} would be`}`,
      )
    }
    if (this.#values.output === 'json') {
      this.#context.out(JSON.stringify({ dryRun: this.isDryRun, changes: this.#changes }, null, 2))
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.client[Symbol.asyncDispose]()
  }

  get #host(): ScaffoldHost {
    return systemScaffoldHost(this.#context.env, this.signal)
  }

  #record(change: ObjectChange, lines?: readonly string[]): void {
    this.#changes.push(change)
    this.#terminal.progress?.clear()
    if (this.#values.output === 'json') return
    const { out } = this.#context
    const { paint } = this.#terminal
    if (lines === undefined) out(fitted(changeText(change, this.isDryRun ? ' (dry run)' : '', paint), this.#terminal))
    else for (const line of lines) out(paintDiff(line, paint))
  }

  /** Tells what is waited for: in a line that goes away where there can be one. */
  #wait(text: string): void {
    const { progress } = this.#terminal
    if (progress === undefined) this.note(text)
    else progress.show(text)
  }
}

function timeoutOf(text = '2m'): Duration {
  try {
    parseDuration(text)
  } catch (error) {
    throw new UsageError(`--timeout: ${errorText(error)}`)
  }
  return text as Duration
}
