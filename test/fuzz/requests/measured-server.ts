import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { upProgram } from '../../up/up-process.ts'

/** The memory of the server after a garbage collection, in bytes. */
export interface ServerMemory {
  readonly heapUsed: number
  readonly external: number
  readonly rss: number
}

/** Code that the server process loads first: SIGUSR2 collects garbage and reports the memory on the standard error. */
const reporter = `process.on('SIGUSR2', () => { globalThis.gc(); console.error('memory ' + JSON.stringify(process.memoryUsage())) })`

/** `kubewright up` in a process of its own that reports its memory and its CPU time. */
export class MeasuredServer implements AsyncDisposable {
  readonly #child: ChildProcess
  readonly #exited: Promise<string>
  readonly #notes: string[] = []
  #onMemory: ((memory: ServerMemory) => void) | undefined
  #kubeconfig = ''
  #exit: string | undefined

  private constructor(program: string, args: readonly string[], folder: string) {
    const flags = ['--expose-gc', '--import', `data:text/javascript,${encodeURIComponent(reporter)}`]
    this.#child = spawn(process.execPath, [...flags, program, 'up', '--port', '0', ...args], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.#exited = new Promise((resolve) => {
      this.#child.once('exit', (code, signal) => resolve((this.#exit = String(signal ?? code))))
    })
    createInterface({ input: this.#child.stderr! }).on('line', (line) => this.#note(line))
  }

  /** Starts the server in a folder and waits until it is ready. */
  static async start(args: readonly string[], folder: string): Promise<MeasuredServer> {
    const server = new MeasuredServer(await upProgram(), args, folder)
    const ready = new Promise<void>((resolve) => {
      createInterface({ input: server.#child.stdout! }).on('line', (line) => {
        const found = /^ready https:\S+ kubeconfig=(.*) in \d+ ms$/.exec(line)
        if (!found) return
        server.#kubeconfig = found[1]!
        resolve()
      })
    })
    const failed = server.#exited.then((code) => {
      throw new Error(`kubewright up ended with ${code}: ${server.#notes.join('\n')}`)
    })
    failed.catch(() => undefined)
    await Promise.race([ready, failed])
    return server
  }

  get kubeconfig(): string {
    return this.#kubeconfig
  }

  /** The exit code or signal; undefined while the server runs. */
  get exit(): string | undefined {
    return this.#exit
  }

  /** The lines that the server logged since the last call. */
  takeNotes(): string[] {
    return this.#notes.splice(0)
  }

  /** The CPU time of the main thread so far, in milliseconds; undefined where the system does not report it. */
  cpuMillis(): number | undefined {
    const { pid } = this.#child
    try {
      return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6
    } catch {
      return undefined
    }
  }

  /** Collects garbage and resolves to the memory in use. */
  memory(): Promise<ServerMemory> {
    const reported = new Promise<ServerMemory>((resolve) => (this.#onMemory = resolve))
    this.#child.kill('SIGUSR2')
    const ended = this.#exited.then((code): never => {
      throw new Error(`the server ended with ${code}`)
    })
    return Promise.race([reported, ended])
  }

  #note(line: string): void {
    if (!line.startsWith('memory {')) this.#notes.push(line)
    else this.#onMemory?.(JSON.parse(line.slice('memory '.length)) as ServerMemory)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#exit === undefined) this.#child.kill('SIGKILL')
    await this.#exited
  }
}
