import type { UserInfo } from '../request-context.ts'

/** What somebody wants to do. */
export interface AuthorizationAttributes {
  readonly user: UserInfo
  readonly verb: string
  readonly isResource: boolean
  readonly group: string
  readonly version: string
  readonly resource: string
  readonly subresource: string
  readonly namespace: string
  readonly name: string
  /** For requests that are about no resource. */
  readonly path: string
}

/** Allowed, or no opinion with a reason. */
export interface Decision {
  readonly allowed: boolean
  readonly reason: string
}

/** Says whether somebody may do something. */
export interface Authorizer {
  authorize(attributes: AuthorizationAttributes): Promise<Decision>
}
