import type { UserInfo } from '../../request/user-info.ts'

const userPrefix = 'system:node:'
const nodesGroup = 'system:nodes'

/** The name of the node that the user is the kubelet of, which may be empty; undefined for users that are no kubelets. */
export function nodeNameOf(user: UserInfo): string | undefined {
  if (!user.name.startsWith(userPrefix) || !user.groups.includes(nodesGroup)) return undefined
  return user.name.slice(userPrefix.length)
}
