import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { targetOfKubeconfig } from '../../test/conformance/target.ts'
import { type BenchedServer, processCpuMillis, processResidentMiB, type Target } from './benched-server.ts'
import { Http2Client } from './http2-client.ts'

const command = join(import.meta.dirname, '../../packages/cli/dist/main.js')

/** `kubewright up` as built, by default with a durable store. */
export class KubewrightUp implements BenchedServer {
  readonly #child: ChildProcess
  readonly #folder: string
  readonly readyMillis: number
  readonly readyCpuMillis: number

  private constructor(child: ChildProcess, folder: string, readyMillis: number) {
    this.#child = child
    this.#folder = folder
    this.readyMillis = readyMillis
    this.readyCpuMillis = this.cpuMillis()
  }

  static start(...args: string[]): Promise<KubewrightUp> {
    return KubewrightUp.#start(args, process.env)
  }

  /** Starts it without the code that an earlier start has compiled. */
  static startFirst(...args: string[]): Promise<KubewrightUp> {
    return KubewrightUp.#start(args, { ...process.env, NODE_DISABLE_COMPILE_CACHE: '1' })
  }

  static async #start(args: readonly string[], env: NodeJS.ProcessEnv): Promise<KubewrightUp> {
    const folder = mkdtempSync(join(tmpdir(), 'kubewright-bench-'))
    const start = performance.now()
    const child = spawn(process.execPath, [command, 'up', '--port', '0', '--controllers', 'none', ...args], {
      cwd: folder,
      env,
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    await once(createInterface({ input: child.stdout }), 'line')
    return new KubewrightUp(child, folder, performance.now() - start)
  }

  cpuMillis(): number {
    return processCpuMillis(this.#child.pid!)
  }

  residentMiB(): number {
    return processResidentMiB(this.#child.pid!)
  }

  client(): Http2Client {
    const { server, tls } = this.target()
    return new Http2Client(server, tls)
  }

  target(): Target {
    const { server, ca, client } = targetOfKubeconfig(join(this.#folder, '.kubewright/kubeconfig'))
    return { server: new URL(server), tls: { ...(ca === undefined ? {} : { ca }), ...client }, headers: {} }
  }

  /** Stops it in order. */
  async stop(): Promise<void> {
    this.#child.kill('SIGTERM')
    await once(this.#child, 'exit')
    rmSync(this.#folder, { recursive: true, force: true })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGKILL')
    await once(this.#child, 'exit')
    rmSync(this.#folder, { recursive: true, force: true })
  }
}
