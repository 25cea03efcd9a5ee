import { createHmac } from 'node:crypto'
import type { ConfigMap, Secret } from '@kubewright/k8s'

/** The type of Secrets that contain bootstrap tokens. */
export const bootstrapTokenType = 'bootstrap.kubernetes.io/token'
const namePrefix = 'bootstrap-token-'
const signaturePrefix = 'jws-kubeconfig-'

const dataOf = ({ data }: Secret, key: string): string => Buffer.from(data?.[key] ?? '', 'base64').toString('utf8')

/**
 * How long a token is valid, in milliseconds: infinite without an expiration, 0 when it has expired or its expiration cannot be
 * parsed. As GetExpiration in cluster-bootstrap/util/secrets.
 */
export function tokenValidFor(secret: Secret, now: number): number {
  const expiration = dataOf(secret, 'expiration')
  if (expiration === '') return Number.POSITIVE_INFINITY
  const isTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(expiration)
  const end = isTime ? Date.parse(expiration) : Number.NaN
  return Number.isNaN(end) ? 0 : Math.max(0, end - now)
}

/** The id and the secret of a token that may sign the ConfigMap `cluster-info`; undefined for any other Secret. */
export function signingToken(secret: Secret, now: number): { readonly id: string; readonly key: string } | undefined {
  const id = dataOf(secret, 'token-id')
  const key = dataOf(secret, 'token-secret')
  if (secret.type !== bootstrapTokenType || secret.metadata.name !== `${namePrefix}${id}`) return undefined
  if (!/^[a-z0-9]{6}$/.test(id) || key === '' || tokenValidFor(secret, now) === 0) return undefined
  return dataOf(secret, 'usage-bootstrap-signing') === 'true' ? { id, key: `${id}.${key}` } : undefined
}

/**
 * The data of `cluster-info` with the signatures of these tokens and no others. Undefined when it has them already, or when there is
 * nothing to sign.
 */
export function planSignatures(
  info: ConfigMap,
  secrets: readonly Secret[],
  now: number,
): Record<string, string> | undefined {
  const content = info.data?.['kubeconfig']
  if (content === undefined) return undefined
  const data = Object.fromEntries(Object.entries(info.data ?? {}).filter(([name]) => !name.startsWith(signaturePrefix)))
  for (const secret of secrets) {
    const token = signingToken(secret, now)
    if (token !== undefined) data[`${signaturePrefix}${token.id}`] = detachedSignature(content, token.id, token.key)
  }
  const names = new Set([...Object.keys(data), ...Object.keys(info.data ?? {})])
  return [...names].some((name) => data[name] !== info.data?.[name]) ? data : undefined
}

/** A JWS with HS256 and without its content, as in cluster-bootstrap/token/jws. */
export function detachedSignature(content: string, id: string, key: string): string {
  const header = Buffer.from(JSON.stringify({ alg: 'HS256', kid: id })).toString('base64url')
  const payload = Buffer.from(content).toString('base64url')
  const signature = createHmac('sha256', key).update(`${header}.${payload}`).digest('base64url')
  return `${header}..${signature}`
}
