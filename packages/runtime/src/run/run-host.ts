import type { Clock, MeasuredProcess, Random } from '@kubewright/base'
import type { ApiClient, ClientOptions } from '@kubewright/client'
import type { HttpListener } from '../serving/http/http-listener.ts'
import type { StartWebhooksOptions } from '../webhook/start-webhooks.ts'

/** A signal that tells a process to end. */
export type StopSignal = 'SIGINT' | 'SIGTERM'

/** What a host needs to know to connect. */
export interface HostConnectOptions
  extends Pick<ClientOptions, 'onResponse' | 'around' | 'onWarning' | 'userAgent' | 'listNamespace'> {
  readonly kubeconfig: string | undefined
}

/** A connection to a cluster. */
export interface HostConnection {
  readonly api: ApiClient
  /** The namespace that the configuration names: in a pod, that of the pod. */
  readonly namespace: string
  /** Where the configuration is from, for messages. */
  readonly source: string
}

/** The world around an operator's program: a process in production, whatever a test likes in tests. */
export interface RunHost {
  /** Without those that name Node and the file. */
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  readonly clock: Clock
  readonly random: Random
  readonly hostname: string
  /** Whether people are looking at the log. */
  readonly isTerminal: boolean
  /** Where help goes. */
  readonly out: (line: string) => void
  /** Where logs and complaints go. */
  readonly note: (line: string) => void
  /** Is told each signal until disposed. */
  onStopSignal(listener: (signal: StopSignal) => void): Disposable
  /** Ends the process at once. */
  exit(code: number): void
  connect(options: HostConnectOptions): Promise<HostConnection>
  readonly listener: HttpListener
  /** Measured when present. */
  readonly process?: MeasuredProcess | undefined
  /** Opens the server of webhooks. @default on a socket */
  readonly listenForWebhooks?: StartWebhooksOptions['listen']
}
