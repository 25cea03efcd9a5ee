import type { Clock, MeasuredProcess, Random } from '@kubewright/base'
import type { ApiClient, ClientOptions } from '@kubewright/client'
import type { HttpListener } from '../serving/http/http-listener.ts'
import type { Profiler } from '../serving/http/profiler.ts'
import type { StartWebhooksOptions } from '../webhook/start-webhooks.ts'

/** A signal that stops a process. */
export type StopSignal = 'SIGINT' | 'SIGTERM'

/** Options of {@link RunHost.connect}. */
export interface HostConnectOptions
  extends Pick<ClientOptions, 'onResponse' | 'around' | 'onWarning' | 'userAgent' | 'listNamespace'> {
  readonly kubeconfig: string | undefined
}

/** A connection to a cluster. */
export interface HostConnection {
  readonly api: ApiClient
  /** The namespace of the configuration; in a pod, that of the pod. */
  readonly namespace: string
  /** The source of the configuration, for messages. */
  readonly source: string
}

/** The environment of an operator's program: the process in production, a fake in tests. */
export interface RunHost {
  /** The arguments, without those for Node and the script. */
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  readonly clock: Clock
  readonly random: Random
  readonly hostname: string
  /** Whether the log is written to a terminal. */
  readonly isTerminal: boolean
  /** Writes a line of help. */
  readonly out: (line: string) => void
  /** Writes a line of the log, or an error message. */
  readonly note: (line: string) => void
  /** Registers a listener for stop signals, until disposed. */
  onStopSignal(listener: (signal: StopSignal) => void): Disposable
  /** Ends the process at once. */
  exit(code: number): void
  connect(options: HostConnectOptions): Promise<HostConnection>
  readonly listener: HttpListener
  /** Measured if present. */
  readonly process?: MeasuredProcess | undefined
  /** Used by the debug address. @default no profiles */
  readonly profiler?: Profiler | undefined
  /** Opens the webhook server. @default on a socket */
  readonly listenForWebhooks?: StartWebhooksOptions['listen'] | undefined
}
