import { CaughtError, type Random } from '@kubewright/base'
import type { ApiClient, RemoteCommand } from '@kubewright/client'
import type { ObjectName } from '../wire/names.ts'
import { problemText } from './problem-text.ts'

// Older output than this many characters is dropped.
const maxOutput = 256 * 1024
const maxTerminals = 16

/** A command that runs in a container, with its output so far. */
export interface Terminal {
  /** The end of the output. */
  readonly output: string
  /** How many characters there have been in all, dropped ones included. */
  readonly length: number
  /** Why the command ended: its exit code, or the failure; absent while it runs. */
  readonly end?: { readonly exitCode?: number | undefined; readonly problem?: string | undefined } | undefined
  /** Calls the listener after each change. */
  listen(listener: () => void): Disposable
}

/** The commands that pages run in containers, with the rights of the console's client. */
export class Terminals implements Disposable {
  readonly #client: Pick<ApiClient, 'exec'>
  readonly #random: Random
  readonly #running = new Map<string, RunningTerminal>()

  constructor(client: Pick<ApiClient, 'exec'>, random: Random) {
    this.#client = client
    this.#random = random
  }

  /** Starts a command. Resolves with the name of its terminal when the container runs it; rejects if it cannot. */
  async start({ namespace = '', name }: ObjectName, container: string, command: readonly string[]): Promise<string> {
    // Finished commands make room, the oldest first.
    for (const [id, { end }] of this.#running)
      if (end !== undefined && this.#running.size >= maxTerminals) this.#running.delete(id)
    if (this.#running.size >= maxTerminals)
      throw new CaughtError(`${maxTerminals} commands are running: close one of their pages first`)
    const remote = await this.#client.exec({ namespace, name }, { container, command, stdin: true })
    const id = Buffer.from(this.#random.bytes(12)).toString('hex')
    this.#running.set(id, new RunningTerminal(remote))
    return id
  }

  find(id: string): Terminal | undefined {
    return this.#running.get(id)
  }

  /** Writes to the standard input of a command. */
  async input(id: string, text: string): Promise<void> {
    const terminal = this.#running.get(id)
    if (terminal === undefined || terminal.end !== undefined)
      throw new CaughtError('The command has ended: start it again')
    await terminal.remote.write(text)
  }

  /** Closes the connection to a command. */
  stop(id: string): void {
    this.#running.get(id)?.remote.close()
  }

  [Symbol.dispose](): void {
    for (const { remote } of this.#running.values()) remote.close()
    this.#running.clear()
  }
}

class RunningTerminal implements Terminal {
  readonly remote: RemoteCommand
  readonly #listeners = new Set<() => void>()
  output = ''
  length = 0
  end: Terminal['end']

  constructor(remote: RemoteCommand) {
    this.remote = remote
    void this.#follow()
  }

  listen(listener: () => void): Disposable {
    const own = (): void => listener()
    this.#listeners.add(own)
    return { [Symbol.dispose]: () => void this.#listeners.delete(own) }
  }

  /** Never rejects: a failure becomes the end. */
  async #follow(): Promise<void> {
    const { stdout, stderr, exitCode } = this.remote
    const read = async (stream: AsyncIterable<Uint8Array>): Promise<void> => {
      const decoder = new TextDecoder()
      for await (const chunk of stream) this.#add(decoder.decode(chunk, { stream: true }))
    }
    // Failures of both outputs are those of the exit code.
    await Promise.allSettled([read(stdout), read(stderr)])
    try {
      this.end = { exitCode: await exitCode }
    } catch (error) {
      this.end = { problem: problemText(error) }
    }
    this.#notify()
  }

  #add(text: string): void {
    this.output = (this.output + text).slice(-maxOutput)
    this.length += text.length
    this.#notify()
  }

  #notify(): void {
    for (const listener of [...this.#listeners]) listener()
  }
}
