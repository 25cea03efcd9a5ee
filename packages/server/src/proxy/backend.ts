import type { OutgoingTls } from '../outgoing/outgoing.ts'

/** A server to which requests are proxied. */
export interface Backend {
  readonly scheme: 'http' | 'https'
  /** A name or an address. */
  readonly host: string
  /** @default the port of the scheme */
  readonly port?: number | undefined
  readonly tls?: OutgoingTls | undefined
}

/** The URL of a backend for a path with its query. */
export function urlOf({ scheme, host, port }: Backend, target: string): URL {
  const name = host.includes(':') ? `[${host}]` : host
  return new URL(
    `${scheme}://${name}${port === undefined ? '' : `:${port}`}${target.startsWith('/') ? '' : '/'}${target}`,
  )
}

/** The TLS settings for pods, services and other ports of nodes: their certificates are not verified, as in kube-apiserver. */
export const unverified: OutgoingTls = { insecure: true }
