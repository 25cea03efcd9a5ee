import type { ApiRequest } from '@kubewright/api'
import type { AuditRecord } from './audit-record.ts'
import type { BodyLimits } from './body.ts'
import type { Deadline } from './deadline.ts'
import type { ListLimits } from './list-limits.ts'
import type { RequestInfo } from './request-info.ts'
import type { UserInfo } from './user-info.ts'

/** A request on its way through the server, with what the server has learned about it so far. */
export interface RequestContext {
  readonly request: ApiRequest
  readonly info: RequestInfo
  readonly user: UserInfo
  /** When the request arrived, in epoch milliseconds of the server's clock. */
  readonly receivedAt: number
  /** Set by the filter that limits the time of requests. Watches, and requests of the server itself, have none. */
  deadline?: Deadline | undefined
  /** Set by the filter that limits bodies. Without it, the defaults apply. */
  bodyLimits?: BodyLimits | undefined
  /** The bytes of the body of a write, once it was read. */
  bodyBytes?: number | undefined
  /** Set by the same filter. */
  listLimits?: ListLimits | undefined
  /**
   * Checks that the user may also run another verb on the same object, and throws a Forbidden error otherwise. Requests of the server
   * itself pass {@link allowEverything}.
   */
  readonly authorize: Authorize
  /** Headers of the response, whatever the response is. Those of the response itself win. */
  readonly responseHeaders: Record<string, string>
  /** Adds a Warning header to the response; each text is sent once. */
  readonly warn: (text: string) => void
  /** Warnings so far, in order. */
  readonly warnings: readonly string[]
  /** Key-value pairs for the audit log. */
  readonly audit: Map<string, string>
  /** The audit event of the request. Undefined when the audit policy does not record the request. */
  readonly auditRecord?: AuditRecord | undefined
  /** Sent to the client as the Audit-Id header; requests of the server itself have none. */
  readonly auditId?: string | undefined
}

/** Checks the user's permission for a verb on the object of the request; rejects when it is missing. */
export type Authorize = (verb: string) => Promise<void>

/** The {@link Authorize} of requests that the server makes on its own behalf. */
export const allowEverything: Authorize = async () => undefined
