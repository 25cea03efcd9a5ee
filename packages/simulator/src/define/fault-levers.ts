import type { KubeObject } from '@kubewright/api'
import type { RequestFacts } from './request-facts.ts'

/** A process of the operator, as faults see it. */
export interface FaultProcess {
  /** Starts the next process when this one has crashed, after the downtime. Calls `started` with it. */
  restartAfterCrash(downtime: number, started?: (next: FaultProcess) => void): void
  /** Takes the CPU from the process. */
  pause(): void
  resume(): void
  /** Makes the wall time of the process jump. */
  shiftTime(millis: number): void
}

/** A request that a fault may refuse. */
export interface RefusableRequest extends RequestFacts {
  /** Whether the request belongs to the work of the operator: no watch, Lease, Event or discovery. */
  readonly isWork: boolean
  /** Whether the request creates an object, also by apply. */
  readonly isCreation: boolean
}

/** An answer of the server that refuses a request. */
export interface Refusal {
  readonly status: number
  /** @default a text that fits the status */
  readonly message?: string | undefined
}

/** The connections between the operator and the API server, as faults see them. */
export interface FaultNetwork {
  /** Ends all watches. With `expired`, their resource version is too old to resume. */
  cutWatches(expired: boolean): void
  /** Makes requests fail without reaching the server, for some time. `process` limits it to one process. */
  disconnect(
    millis: number,
    code: 'ECONNREFUSED' | 'ETIMEDOUT',
    only?: { readonly process: FaultProcess; readonly resource: string },
  ): void
  /** Refuses requests for some time. `refusal` returns undefined for a request that the server processes. */
  refuse(millis: number, refusal: (request: RefusableRequest) => Refusal | undefined): void
  /** Makes watch events of one resource, or of all, late. */
  lag(resource: string | undefined, millis: number): void
  /** Makes the first lists of a process those of a former revision, and its watches as late, for one resource or all. */
  stale(process: FaultProcess, resource: string | undefined, revision: number, millis: number): void
}

/** An object that the operator has written and that a user may delete or change. */
export interface Child {
  readonly id: string
  readonly object: KubeObject
  /** Whether it existed before the operator, or was restored by the user: the operator cannot create it again. */
  readonly isGiven: boolean
  /** The paths of the fields that the operator has changed after the creation, with `\0` as separator. */
  readonly changed: ReadonlySet<string>
}

/** The answer to a request of an administrator. */
export interface ServerAnswer {
  readonly status: number
  /** The object, or the Status that says why the request was refused. */
  readonly object: KubeObject
}

/** The cluster, as faults see it. */
export interface FaultCluster {
  /** Sends a request of an administrator. */
  request(method: string, path: string, body?: object): Promise<ServerAnswer>
  /** The children of the operator that hold no data and do not run once, in a stable order. */
  children(): Promise<readonly Child[]>
  /** Deletes a child, as a user would. */
  deleteChild(child: Child): Promise<void>
  /** Replaces a child, as a user would. Resolves to whether the server has accepted it. */
  changeChild(child: Child, changed: object): Promise<boolean>
  /** The revision before the last changes; without a number, before the last operation of the user. */
  pastRevision(changes: number | undefined): Promise<number>
  /** Makes the webhooks of the operator unreachable for some time. */
  stopWebhooks(millis: number): void
  /** Crashes the containers of a pod. */
  crashPod(pick: number): Promise<void>
  /** Makes all containers unready, until the returned function is called. */
  makeUnready(): Promise<() => void>
  /** Sets whether new pods can be scheduled. */
  setSchedulable(isSchedulable: boolean): Promise<void>
  /** Removes the nodes with their pods. The returned function registers them again. */
  loseNodes(): Promise<() => Promise<void>>
  /** Removes the storage classes, so that volumes are not provisioned. The returned function restores them. */
  stopProvisioning(): Promise<() => Promise<void>>
}
