import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { packedModules } from '../scaffold/packed-modules.ts'

/** The deadline of every wait. */
const patienceMillis = 30_000

/** A `kubewright` command in a separate process, with waits for lines of its output. */
export class CliProcess implements AsyncDisposable {
  readonly child: ChildProcess
  /** The lines of standard output and standard error, oldest first. */
  readonly lines: string[] = []
  readonly exited: Promise<number | string>
  readonly #closed: Promise<unknown>
  readonly #waiting = new Set<() => void>()

  readonly #isGroup: boolean

  private constructor(
    program: string,
    args: readonly string[],
    folder: string,
    env: NodeJS.ProcessEnv,
    isGroup = false,
  ) {
    this.#isGroup = isGroup
    this.child = spawn(process.execPath, [program, ...args], {
      cwd: folder,
      detached: isGroup,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, NO_COLOR: '1', ...env },
    })
    this.exited = once(this.child, 'exit').then(([code, signal]) => (code ?? signal) as number | string)
    this.#closed = once(this.child, 'close')
    for (const input of [this.child.stdout!, this.child.stderr!]) {
      createInterface({ input }).on('line', (line) => {
        this.lines.push(line)
        for (const look of this.#waiting) look()
      })
    }
  }

  static async start(args: readonly string[], folder: string, env: NodeJS.ProcessEnv = {}): Promise<CliProcess> {
    return new CliProcess(join(await packedModules(), '.bin/kubewright'), args, folder, env)
  }

  /** Starts another program than the packed command. */
  static startProgram(program: string, args: readonly string[], folder: string, env: NodeJS.ProcessEnv): CliProcess {
    return new CliProcess(program, args, folder, env)
  }

  /** Starts a program in a process group of its own. Signals go to the whole group, as those of a terminal do. */
  static startGroup(program: string, args: readonly string[], folder: string, env: NodeJS.ProcessEnv): CliProcess {
    return new CliProcess(program, args, folder, env, true)
  }

  /** Resolves to the first matching line at or after a position, whether it is already written or not. */
  async line(pattern: RegExp, after = 0): Promise<{ readonly text: string; readonly at: number }> {
    const find = (): number => this.lines.findIndex((line, index) => index >= after && pattern.test(line))
    const what = (): string => `${pattern} was not printed:\n${this.lines.join('\n')}`
    let at = find()
    if (at < 0) {
      await new Promise<void>((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error(what())), patienceMillis)
        const look = (): void => {
          at = find()
          if (at < 0) return
          clearTimeout(timer)
          this.#waiting.delete(look)
          resolve()
        }
        this.#waiting.add(look)
        // Output may arrive after the exit of the process, but not after its streams are closed.
        void this.#closed.then(() => {
          look()
          clearTimeout(timer)
          reject(new Error(`The process has exited, and ${what()}`))
        })
      })
    }
    return { text: this.lines[at]!, at: at + 1 }
  }

  /** Sends a signal. Resolves to the exit code, or to the signal that ended the process. */
  async stop(signal: NodeJS.Signals = 'SIGINT'): Promise<number | string> {
    if (this.#isGroup && this.child.pid !== undefined) process.kill(-this.child.pid, signal)
    else this.child.kill(signal)
    return this.exited
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) await this.stop('SIGKILL')
  }
}
