import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { build } from 'esbuild'
import { bundleProgram } from '../../tools/bundle-program.ts'

const root = join(import.meta.dirname, '../..')
const programs = new Map<string, Promise<string>>()

/**
 * The command of a checkout of this repository, bundled into one file for each of its programs: it starts fast, and users without access to the
 * sources can run it. Built once for each test file.
 */
export function upProgram(checkout: string = root): Promise<string> {
  let program = programs.get(checkout)
  if (!program) programs.set(checkout, (program = bundle(checkout)))
  return program
}

async function bundle(checkout: string): Promise<string> {
  // Below the project, so that Node finds the dependencies that are not bundled.
  const cache = join(checkout, 'node_modules/.cache')
  mkdirSync(cache, { recursive: true })
  const folder = mkdtempSync(join(cache, 'kubewright-program-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const sources = join(checkout, 'packages/cli/src')
  // An older checkout may have fewer programs.
  const entryPoints = readdirSync(sources).flatMap((file) =>
    /^(.+-)?main\.ts$/.test(file) ? [join(sources, file)] : [],
  )
  await build({
    entryPoints,
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    conditions: ['kubewright-source'],
    external: ['jose', 're2js', 'ws'],
    logLevel: 'warning',
  })
  const up = join(sources, 'up-program.ts')
  if (existsSync(up)) await bundleProgram(up, join(folder, 'up-program.cjs'))
  chmodSync(folder, 0o755)
  return join(folder, 'main.mjs')
}

/** A temporary folder, removed when disposed. */
export class TemporaryFolder implements Disposable {
  readonly path: string

  constructor() {
    this.path = mkdtempSync(join(tmpdir(), 'kubewright-up-'))
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true })
  }
}

/** The options of the process. */
export interface UpProcessOptions {
  readonly uid?: number
  /** The checkout of this repository whose command runs. @default this one */
  readonly checkout?: string
}

/** The outcome of a failed start. */
export interface UpFailure {
  readonly code: number | string
  readonly notes: readonly string[]
}

/** `kubewright up` in a separate process. */
export class UpProcess implements AsyncDisposable {
  readonly child: ChildProcess
  /** The lines of the standard output, oldest first. */
  readonly out: string[] = []
  readonly notes: string[] = []
  readonly #exited: Promise<number | string>
  #server = ''
  #kubeconfig = ''

  private constructor(program: string, args: readonly string[], folder: string, options: UpProcessOptions) {
    this.child = spawn(process.execPath, [program, 'up', '--port', '0', ...args], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe'],
      // Beside the program, so that tests do not write to the folder of the user.
      env: { ...process.env, XDG_CACHE_HOME: join(dirname(program), 'cache') },
      ...(options.uid === undefined ? {} : { uid: options.uid }),
    })
    this.#exited = once(this.child, 'exit').then(([code, signal]) => (code ?? signal) as number | string)
    createInterface({ input: this.child.stderr! }).on('line', (line) => this.notes.push(line))
  }

  /** Starts it in a folder and waits for its ready line. */
  static async start(args: readonly string[], folder: string, options: UpProcessOptions = {}): Promise<UpProcess> {
    const up = new UpProcess(await upProgram(options.checkout), args, folder, options)
    const ready = new Promise<void>((resolve) => {
      createInterface({ input: up.child.stdout! }).on('line', (line) => {
        up.out.push(line)
        const found = /^ready (https:\S+) kubeconfig=(.*) in \d+ ms$/.exec(line)
        if (!found) return
        up.#server = found[1]!
        up.#kubeconfig = found[2]!
        resolve()
      })
    })
    const failed = up.#exited.then((code) => {
      throw new Error(`kubewright up ended with ${code}: ${up.notes.join('\n')}`)
    })
    failed.catch(() => undefined)
    await Promise.race([ready, failed])
    return up
  }

  /** Runs it and expects a failure. Resolves to the exit code and the lines of the standard error. */
  static async fail(args: readonly string[], folder: string, options: UpProcessOptions = {}): Promise<UpFailure> {
    const up = new UpProcess(await upProgram(options.checkout), args, folder, options)
    const code = await up.#exited
    return { code, notes: up.notes }
  }

  get server(): string {
    return this.#server
  }

  get kubeconfig(): string {
    return this.#kubeconfig
  }

  /** Sends a signal. Resolves to the exit code, or to the signal that ended the process. */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | string> {
    if (this.child.exitCode === null && this.child.signalCode === null) this.child.kill(signal)
    return this.#exited
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop('SIGKILL')
  }
}
