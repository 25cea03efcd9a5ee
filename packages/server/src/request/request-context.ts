import type { ApiRequest } from './api-request.ts'
import type { RequestInfo } from './request-info.ts'

/** An authenticated user. */
export interface UserInfo {
  readonly name: string
  readonly uid?: string
  readonly groups: readonly string[]
  readonly extra?: Readonly<Record<string, readonly string[]>>
}

/** Everything that is known about the request while it is being handled. */
export interface RequestContext {
  readonly request: ApiRequest
  readonly info: RequestInfo
  readonly user: UserInfo
  /** When the request arrived, in epoch milliseconds of the server's clock. */
  readonly receivedAt: number
  /** Checks that the user may do something else to the same object too; throws when not. @default allowed */
  readonly authorize?: (verb: string) => Promise<void>
  /** Adds a Warning header to the answer; a text is sent once. */
  readonly warn: (text: string) => void
  /** Warnings so far, in order. */
  readonly warnings: readonly string[]
  /** Key-value pairs for the audit log. */
  readonly audit: Map<string, string>
  /** What the client is told as Audit-Id; the server's own requests have none. */
  readonly auditId?: string
}
