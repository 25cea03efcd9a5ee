import type { UserInfo } from '../../request/user-info.ts'

/** The fields of a user in the API, such as in a TokenReview. Empty fields are left out. */
export function userFields({ name, uid, groups, extra }: UserInfo): Record<string, unknown> {
  return {
    ...(name === '' ? {} : { username: name }),
    ...(uid ? { uid } : {}),
    ...(groups.length > 0 ? { groups } : {}),
    ...(extra && Object.keys(extra).length > 0 ? { extra } : {}),
  }
}
