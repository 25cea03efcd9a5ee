import { type Clock, type Logger, type Random, systemClock, systemRandom } from '@kubewright/base'
import type { ApiClient } from '@kubewright/client'
import { type HttpListener, systemHttpListener } from '@kubewright/runtime'
import { Forwards } from './cluster/forwards.ts'
import { LiveCluster } from './cluster/live-cluster.ts'
import { systemPortListener } from './cluster/system-port-listener.ts'
import { Terminals } from './cluster/terminals.ts'
import type { ClusterLevers } from './feeds/cluster-levers.ts'
import { Levers } from './feeds/levers.ts'
import type { OperatorSource } from './feeds/operator-source.ts'
import { readSources } from './feeds/read-operators.ts'
import { ConsoleHandler } from './http/console-handler.ts'
import { type PageFiles, readPageFiles } from './http/page-files.ts'
import { PageSession } from './http/page-session.ts'
import { Recorder } from './recording/recorder.ts'
import { Recording } from './recording/recording.ts'
import { decodeRecording } from './recording/recording-file.ts'

/** What a console shows: a cluster, or a recording that another console exported. */
export type ConsoleSubject =
  /** The connection to the cluster. The console has exactly its permissions. The caller disposes it. */
  | { readonly client: ApiClient; readonly recording?: undefined }
  /** The bytes of an exported file. */
  | { readonly client?: undefined; readonly recording: Uint8Array }

/** Options of {@link startConsole}. */
export type ConsoleOptions = ConsoleSubject & ConsoleSettings

/** Options of {@link startConsole} that do not depend on the subject. */
export interface ConsoleSettings {
  /** The name of the cluster in the page. @default the address of the API server, or the name in the recording */
  readonly cluster?: string | undefined
  /** Refuses everything that would change the cluster. @default false */
  readonly readOnly?: boolean | undefined
  /** The operators that the page shows. @default none */
  readonly operators?: readonly OperatorSource[] | undefined
  /**
   * Lets the page cause trouble: true lets it pause controllers, and the levers of a simulated cluster also let it crash
   * pods, fail writes and cut watches. @default false
   */
  readonly levers?: boolean | ClusterLevers | undefined
  /**
   * When the console begins to record the cluster for its time line: at once, or when the first page is opened. From
   * then on it watches all kinds until it is disposed. @default page
   */
  readonly recordFrom?: 'start' | 'page' | undefined
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
 * Serves the console on the loopback interface. Until a page is opened, it sends no requests to the operators, and
 * none to the cluster unless it records from the start. Rejects for a recording that cannot be read.
 */
export async function startConsole(options: ConsoleOptions): Promise<Console> {
  const { client, log, clock = systemClock, random = systemRandom, listener = systemHttpListener, port = 0 } = options
  const session = new PageSession(random)
  // The cookie is limited to this path: other programs on this machine, which share the host, never receive it.
  const base = `/${Buffer.from(random.bytes(8)).toString('hex')}/`
  const file = options.recording === undefined ? undefined : await decodeRecording(options.recording)
  const live = client === undefined ? undefined : new LiveCluster(client, clock)
  const recording = file?.recording ?? new Recording({ startedAt: clock.now() })
  const terminals = client && new Terminals(client, random)
  const forwards = client && new Forwards(client, systemPortListener)
  let recorder: Recorder | undefined
  const record = (): void => {
    if (live !== undefined) recorder ??= new Recorder(live, recording, clock)
  }
  const handler = new ConsoleHandler({
    session,
    base,
    random,
    files: options.page ?? (await readPageFiles()),
    cluster: options.cluster ?? file?.cluster ?? client?.rest.transport.host ?? '',
    readOnly: live === undefined || (options.readOnly ?? false),
    onPage: record,
    context: {
      live,
      rest: client?.rest,
      recording,
      clock,
      terminals,
      forwards,
      levers: leversOf(options),
      readOperators: file === undefined ? readSources(options.operators ?? []) : async () => file.operators,
    },
  })
  const listening = await listener.listen({ name: 'console', host: '127.0.0.1', port, handler: handler.handle, log })
  // Not earlier: a console that fails to start must not leave a recorder behind.
  if (options.recordFrom === 'start') record()
  return {
    port: listening.port,
    createLink: () => `http://127.0.0.1:${listening.port}${base}#${session.issueToken()}`,
    [Symbol.asyncDispose]: async () => {
      recorder?.[Symbol.dispose]()
      terminals?.[Symbol.dispose]()
      forwards?.[Symbol.dispose]()
      handler[Symbol.dispose]()
      await listening[Symbol.asyncDispose]()
    },
  }
}

function leversOf({ client, levers = false, operators = [] }: ConsoleOptions): Levers | undefined {
  if (client === undefined || levers === false) return undefined
  return new Levers({ cluster: levers === true ? undefined : levers, operators, rest: client.rest })
}
