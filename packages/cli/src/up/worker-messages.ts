import type { PodLogRequest } from '@kubewright/api'
import type { FlagValues } from '@kubewright/base'
import type { ServerIdentity } from '@kubewright/server'
import type { PlaneOptions } from './plane-options.ts'
import type { upFlags } from './up-command.ts'

/** The flags of `up`, from which a worker derives the same options as the main process. */
export type UpFlagValues = FlagValues<typeof upFlags>

/** Tells a worker what to serve. */
export interface WorkerStart {
  readonly type: 'start'
  readonly flags: UpFlagValues
  readonly options: Omit<PlaneOptions, 'apiServer'>
  readonly identity: ServerIdentity
  /** The port of the main process, for the addresses in responses. */
  readonly port: number
  /** Whether {@link boardDescriptor} is a board. */
  readonly hasBoard: boolean
  /** Why each simulated node offers no exec, by the name of the node. */
  readonly simulatedNodes: ReadonlyMap<string, string>
}

/** A message from the main process of `up` to a worker. `connection` carries a socket. */
export type ToWorker =
  | WorkerStart
  | { readonly type: 'connection'; readonly id: number }
  | { readonly type: 'drain' }
  | { readonly type: 'stop' }
  | { readonly type: 'log-line'; readonly id: number; readonly line: string }
  | { readonly type: 'log-end'; readonly id: number; readonly error?: string | undefined }

/** A message from a worker to the main process of `up`. */
export type FromWorker =
  | { readonly type: 'ready' }
  /** The ids of the connections that have arrived, and the number of those that have closed, since the last message. */
  | { readonly type: 'connections'; readonly arrived: readonly number[]; readonly closed: number }
  | { readonly type: 'audit'; readonly lines: readonly string[] }
  | { readonly type: 'stopped'; readonly requests: number }
  | { readonly type: 'log'; readonly id: number; readonly request: Omit<PodLogRequest, 'signal'> }
  | { readonly type: 'log-cancel'; readonly id: number }

/** The file descriptor of the channel to the store of the main process. */
export const storeDescriptor = 4

/** The file descriptor of the {@link RevisionBoard} of that store; it is /dev/null without one. */
export const boardDescriptor = 5
