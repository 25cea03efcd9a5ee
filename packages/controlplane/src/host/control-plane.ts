import type { Clock } from '@kubewright/base'
import type { ApiClient, ClientOptions, Transport } from '@kubewright/client'
import type { AssembledServer, LocalServers } from '@kubewright/server'
import type { RunningControllers } from '../components/start-controllers.ts'
import type { ControlPlaneUser, PlaneConfig } from '../config/plane-config.ts'
import type { ControlPlaneLevers } from '../faults/levers.ts'
import type { ControlPlaneAddress, ControlPlaneListenOptions } from './listen-with.ts'

/** A Kubernetes API server and its controllers in this process. Disposing it stops everything. */
export interface ControlPlane extends AsyncDisposable {
  readonly server: AssembledServer
  readonly clock: Clock
  /** Servers in this process, such as webhooks, that the API server calls without sockets. */
  readonly localServers: LocalServers
  readonly controllers: RunningControllers
  /** Injects faults. Present if the option `levers` is on. */
  readonly levers?: ControlPlaneLevers | undefined
  /** A transport to the API server without sockets, as the administrator or the given user. */
  transport(user?: ControlPlaneUser): Transport
  /** A client of the API server without sockets, as the administrator or the given user. */
  client(options?: Partial<ClientOptions> & ControlPlaneClientOptions): ApiClient
  /** Serves HTTPS on the loopback address. Can be called several times. */
  listen(options?: ControlPlaneListenOptions): Promise<ControlPlaneAddress>
  /**
   * Captures the current state, from which any number of control planes can be started. Requires an in-memory store.
   */
  snapshot(): ControlPlaneSnapshot
}

/** Options of {@link ControlPlane.client}, beside those of every client. */
export interface ControlPlaneClientOptions {
  /** @default the administrator */
  readonly user?: ControlPlaneUser | undefined
  /** Whether injected faults do not apply to its requests. @default false */
  readonly isExempt?: boolean | undefined
}

/** The objects of a control plane at one point in time. */
export interface ControlPlaneSnapshot extends AsyncDisposable {
  /** Starts a control plane with these objects. Options default to those of the original control plane. */
  start(config?: Omit<PlaneConfig, 'store'>): Promise<ControlPlane>
}
