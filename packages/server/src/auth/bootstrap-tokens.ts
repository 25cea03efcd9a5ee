import { fromTime } from '@kubewright/api'
import type { Clock } from '@kubewright/base'
import type { SharedObject } from '../registry/object-lookup.ts'
import type { TokenAuthenticator } from './authenticator.ts'
import { isSame } from './secret-tokens.ts'

const secretType = 'bootstrap.kubernetes.io/token'
const userPrefix = 'system:bootstrap:'
const defaultGroup = 'system:bootstrappers'
const tokenPattern = /^([a-z0-9]{6})\.([a-z0-9]{16})$/
const groupPattern = /^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$/

/** The parts that {@link bootstrapTokens} uses. */
export interface BootstrapTokenOptions {
  /** Finds a Secret of the namespace kube-system. */
  readonly secret: (name: string) => Promise<SharedObject | undefined>
  readonly clock: Clock
  /** The audiences of this server, for which all bootstrap tokens are valid. */
  readonly audiences: readonly string[]
}

/**
 * Authenticates the tokens with which machines join the cluster, kept in Secrets named bootstrap-token-ID of the namespace kube-system
 * (plugin/pkg/auth/authenticator/token/bootstrap). A token that no Secret allows is left to other authenticators.
 */
export function bootstrapTokens({ secret, clock, audiences: own }: BootstrapTokenOptions): TokenAuthenticator {
  return async (token, wanted) => {
    const [, id, key] = tokenPattern.exec(token) ?? []
    const audiences = own.filter((audience) => wanted.includes(audience))
    if (id === undefined || key === undefined || audiences.length === 0) return undefined
    const found = await secret(`bootstrap-token-${id}`)
    if (!found || found.metadata.deletionTimestamp !== undefined || found['type'] !== secretType) return undefined
    const data = (found['data'] ?? {}) as Readonly<Record<string, string>>
    const value = (name: string): string => Buffer.from(data[name] ?? '', 'base64').toString()
    if (!isSame(value('token-secret'), key) || value('token-id') !== id) return undefined
    if (hasExpired(value('expiration'), clock.now()) || value('usage-bootstrap-authentication') !== 'true') {
      return undefined
    }
    const extra = value('auth-extra-groups')
    const more = extra === '' ? [] : extra.split(',')
    if (!more.every((group) => groupPattern.test(group))) return undefined
    const groups = [...new Set([defaultGroup, ...more])].sort()
    return { user: { name: userPrefix + id, groups }, audiences }
  }
}

/** Whether the time has come. A time that cannot be parsed counts as past. */
function hasExpired(expiration: string, now: number): boolean {
  if (expiration === '') return false
  try {
    return fromTime(expiration) <= now
  } catch {
    return true
  }
}
