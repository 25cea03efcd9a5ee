import type { KubeObject } from '@kubewright/api'
import type { ServerAnswer } from './fault-levers.ts'
import type { RequestFacts } from './request-facts.ts'

/** A write that a process of the operator sends. */
export interface SentWrite {
  readonly request: RequestFacts
  readonly replica: number
  /** The identity of the process in its Lease. */
  readonly identity: string
}

/** An answer of the server to a write of the operator, or to a read that it refused for lack of a permission. */
export interface Answer extends ServerAnswer {
  readonly request: RequestFacts
  /** Whether another request failed meanwhile because of a fault: it may have been one of the operator's webhook for this write. */
  readonly isDisturbed: boolean
}

/** An operation of the user that the server has finally refused, or an invalid change that it has accepted. */
export interface UserAttempt {
  readonly verb: 'create' | 'change' | 'delete'
  /** The object and its form. */
  readonly object: string
  readonly status: number
  readonly message: string
  /** Why the server refuses to create an object of this form; undefined for a valid form. */
  readonly refusal: string | undefined
  readonly webhooksAreDown: boolean
}

/** The cluster at the end of a run, while it still works. */
export interface EndedCluster {
  /** All objects that the operator or another controller has written, or that the operator may change. */
  readonly objects: readonly KubeObject[]
  /** The objects that were written since the start. */
  written(): Promise<readonly KubeObject[]>
  /** The form of each subject that exists according to the user, by index. */
  readonly desired: ReadonlyMap<number, number>
  /** Sends a request of an administrator. */
  request(method: string, path: string, body?: object): Promise<ServerAnswer>
}

/** What an oracle observes during a run. Each method is called when it happens. */
export interface Observer {
  /** A process sends a write. */
  sent?(write: SentWrite): void
  answered?(answer: Answer): void
  /** A promise of the operator is rejected, and nothing handles it. */
  rejected?(reason: unknown): void
  /** The run ends early, because the operator works without end. `what` says what it does. */
  looped?(what: string): void
  attempted?(attempt: UserAttempt): void
  /** An object has changed. Gets all objects that were written since the start, which costs time. */
  changed?(objects: readonly KubeObject[]): void
  /** The run is at its end. The observer may change the cluster: the observations of the run are complete. */
  ended?(cluster: EndedCluster): Promise<void>
}
