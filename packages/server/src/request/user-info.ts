/** An authenticated user. */
export interface UserInfo {
  readonly name: string
  readonly uid?: string | undefined
  readonly groups: readonly string[]
  readonly extra?: Readonly<Record<string, readonly string[]>> | undefined
}

/** Members of this group are authorized for every request. */
export const mastersGroup = 'system:masters'
/** Every user whose credentials were accepted is a member of this group. */
export const authenticatedGroup = 'system:authenticated'
/** The group of requests without credentials. */
export const unauthenticatedGroup = 'system:unauthenticated'
