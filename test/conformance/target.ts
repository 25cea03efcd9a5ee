import { readFileSync } from 'node:fs'
import { parseYaml } from '@kubewright/api'
import { isJsonObject } from '@kubewright/base'
import type { CertificateAuthority, KeyedCertificate } from '@kubewright/server'

/** A server to test, with an administrator's credentials. */
export interface Target {
  readonly server: URL
  /** Further servers on the same store. Requests go to all servers in turn. @default none */
  readonly peers?: readonly URL[]
  /** PEM. @default the server's certificate is not verified */
  readonly ca?: string
  readonly token?: string
  readonly client?: KeyedCertificate
  /** A client CA that the server trusts, with which the runner issues user certificates. */
  readonly clientCa?: CertificateAuthority
}

/** The target of the current context of a kubeconfig. Supports tokens and certificates, but not plugins. */
export function targetOfKubeconfig(file: string): Target {
  const config = parseYaml(readFileSync(file, 'utf8')) as Record<string, unknown>
  const named = (list: string, name: unknown, member: string): Record<string, unknown> => {
    const entries = (config[list] ?? []) as { name: string; [member: string]: unknown }[]
    const found = entries.find((entry) => entry.name === name)?.[member]
    if (!isJsonObject(found)) throw new Error(`${file}: ${list} has no entry ${String(name)}`)
    return found
  }
  const context = named('contexts', config['current-context'], 'context')
  const cluster = named('clusters', context['cluster'], 'cluster')
  const user = named('users', context['user'], 'user')
  const pem = (from: Record<string, unknown>, name: string): string | undefined => {
    const data = from[`${name}-data`]
    if (typeof data === 'string') return Buffer.from(data, 'base64').toString()
    return typeof from[name] === 'string' ? readFileSync(from[name], 'utf8') : undefined
  }
  const ca = pem(cluster, 'certificate-authority')
  const cert = pem(user, 'client-certificate')
  const key = pem(user, 'client-key')
  return {
    server: new URL(String(cluster['server'])),
    ...(ca === undefined ? {} : { ca }),
    ...(typeof user['token'] === 'string' ? { token: user['token'] } : {}),
    ...(cert === undefined || key === undefined ? {} : { client: { cert, key } }),
  }
}
