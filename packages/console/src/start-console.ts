import { type Clock, type Logger, type Random, systemClock, systemRandom } from '@kubewright/base'
import type { ApiClient } from '@kubewright/client'
import { type HttpListener, systemHttpListener } from '@kubewright/runtime'
import { KindCatalog } from './feeds/kind-catalog.ts'
import type { OperatorSource } from './feeds/operator-source.ts'
import { ConsoleHandler } from './http/console-handler.ts'
import { type PageFiles, readPageFiles } from './http/page-files.ts'
import { PageSession } from './http/page-session.ts'

/** Options of {@link startConsole}. */
export interface ConsoleOptions {
  /** The connection to the cluster. The console has exactly its permissions. The caller disposes it. */
  readonly client: ApiClient
  /** The name of the cluster in the page. @default the address of the API server */
  readonly cluster?: string | undefined
  /** Refuses everything that would change the cluster. @default false */
  readonly readOnly?: boolean | undefined
  /** The operators that the page shows. @default none */
  readonly operators?: readonly OperatorSource[] | undefined
  /** The port of 127.0.0.1; 0 picks a free one. @default 0 */
  readonly port?: number | undefined
  /** The page. @default the one in this package */
  readonly page?: PageFiles | undefined
  readonly log: Logger
  /** @default the system clock */
  readonly clock?: Clock | undefined
  /** Generates tokens. Must be cryptographically secure. @default the randomness of the machine */
  readonly random?: Random | undefined
  /** @default opens a socket */
  readonly listener?: HttpListener | undefined
}

/** A running console. Disposing it closes all pages' connections and the server. */
export interface Console extends AsyncDisposable {
  readonly port: number
  /** A link that opens the console in one browser. Every link works once. */
  createLink(): string
}

/**
 * Serves the console on the loopback interface. While no page is open, it sends no requests to the cluster and to the
 * operators.
 */
export async function startConsole(options: ConsoleOptions): Promise<Console> {
  const { client, log, clock = systemClock, random = systemRandom, listener = systemHttpListener, port = 0 } = options
  const session = new PageSession(random)
  // The cookie is limited to this path: other programs on this machine, which share the host, never receive it.
  const base = `/${Buffer.from(random.bytes(8)).toString('hex')}/`
  const kinds = new KindCatalog(client, clock)
  const handler = new ConsoleHandler({
    session,
    base,
    random,
    files: options.page ?? (await readPageFiles()),
    cluster: options.cluster ?? client.rest.transport.host,
    readOnly: options.readOnly ?? false,
    context: { client, clock, kinds, operators: options.operators ?? [] },
  })
  const listening = await listener.listen({ name: 'console', host: '127.0.0.1', port, handler: handler.handle, log })
  return {
    port: listening.port,
    createLink: () => `http://127.0.0.1:${listening.port}${base}#${session.issueToken()}`,
    [Symbol.asyncDispose]: async () => {
      handler[Symbol.dispose]()
      await listening[Symbol.asyncDispose]()
    },
  }
}
