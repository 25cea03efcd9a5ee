// Several `kubewright up` processes on one etcd, and a client that retries on another server.
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../../packages/storage/src/testdata/free-port.ts'
import { type Reply, Requests } from '../up/requests.ts'
import { UpProcess } from '../up/up-process.ts'

/** Servers that share an etcd and a folder with their keys. Each keeps its port over restarts. */
export class ServerGroup implements AsyncDisposable {
  readonly #folder = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'kubewright-servers-'))
  readonly #flags: readonly string[]
  readonly #checkouts: readonly (string | undefined)[]
  #starts = 0
  readonly #servers: (UpProcess | undefined)[] = []
  readonly #ports: string[] = []
  readonly #clients: Requests[] = []

  private constructor(flags: readonly string[], checkouts: readonly (string | undefined)[]) {
    this.#flags = flags
    this.#checkouts = checkouts
  }

  /**
   * Starts the servers at the same time. With another checkout of this repository, starts and restarts use the command of this one and of the
   * other one in turn.
   */
  static async start(
    count: number,
    etcd: readonly string[],
    flags: readonly string[] = [],
    otherCheckout?: string,
  ): Promise<ServerGroup> {
    const checkouts = otherCheckout === undefined ? [undefined] : [undefined, otherCheckout]
    const group = new ServerGroup(['--etcd', etcd.join(','), ...flags], checkouts)
    await Promise.all(Array.from({ length: count }, (_, i) => group.start(i)))
    return group
  }

  get size(): number {
    return this.#ports.length
  }

  kubeconfig(index: number): string {
    return join(this.#folder, `kubeconfig-${index}`)
  }

  /** The process of a server; undefined while it is stopped. */
  server(index: number): UpProcess | undefined {
    return this.#servers[index]
  }

  /** A client of one server, which does not retry. */
  client(index: number): Requests {
    return (this.#clients[index] ??= new Requests(this.kubeconfig(index)))
  }

  async start(index: number): Promise<void> {
    const port = (this.#ports[index] ??= String(await freePort()))
    const flags = ['--port', port, ...this.#flags]
    const checkout = this.#checkouts[this.#starts++ % this.#checkouts.length]
    const server = await UpProcess.start(
      [...flags, '--kubeconfig', this.kubeconfig(index)],
      this.#folder,
      checkout === undefined ? {} : { checkout },
    )
    this.#servers[index] = server
  }

  async stop(index: number, signal: NodeJS.Signals): Promise<number | string | undefined> {
    const server = this.#servers[index]
    this.#servers[index] = undefined
    return server?.stop(signal)
  }

  /** The holder of a Lease in kube-system, read through a server; empty when there is none. */
  async holderOf(lease: string, via: number): Promise<string> {
    const path = `/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/${lease}`
    const { body } = await this.client(via).send('GET', path)
    return body?.spec?.holderIdentity ?? ''
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const client of this.#clients) client?.[Symbol.dispose]()
    await Promise.all(this.#servers.map(async (server) => server?.[Symbol.asyncDispose]()))
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

/** The outcome of {@link sendAnywhere}. */
export interface RetriedReply extends Reply {
  /** How often the request was sent. */
  readonly attempts: number
}

/**
 * Sends a request to the servers in turn until one responds with anything but a server error, as clients behind a load balancer do. The
 * response of a write that was sent twice may be 409 although the first attempt was successful.
 */
export async function sendAnywhere(
  clients: readonly Requests[],
  first: number,
  request: { readonly method: string; readonly path: string; readonly body?: unknown },
  until: number = Date.now() + 60_000,
): Promise<RetriedReply> {
  for (let attempt = 1; ; attempt++) {
    const client = clients[(first + attempt - 1) % clients.length]!
    const reply = await client.send(request.method, request.path, request.body).catch(() => undefined)
    if (reply !== undefined && reply.status < 500 && reply.status !== 429) return { ...reply, attempts: attempt }
    if (Date.now() > until) {
      throw new Error(`No server answered ${request.method} ${request.path} in time: ${reply?.status} ${reply?.text}`)
    }
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
