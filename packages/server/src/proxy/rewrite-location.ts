import { type Backend, urlOf } from './backend.ts'

/** The way of a proxied request. */
export interface ProxiedRoute {
  readonly backend: Backend
  /** The host that the client addressed. */
  readonly host: string
  /** The path of the proxy, without that of the backend. */
  readonly prefix: string
}

/**
 * Rewrites the target of a redirect so that it leads through the proxy (apimachinery/pkg/util/proxy/transport.go). Targets on other hosts and
 * relative ones stay as they are.
 */
export function rewriteLocation(location: string, { backend, host, prefix }: ProxiedRoute): string {
  const [, scheme = '', authority, path = '', rest = ''] =
    /^(?:([a-z][a-z0-9+.-]*):)?(?:\/\/([^/?#]*))?([^?#]*)(.*)$/i.exec(location) ?? []
  const isForeign = authority && authority !== urlOf(backend, '/').host && authority !== host
  if (isForeign || !path.startsWith('/')) return location
  const origin = authority && authority === host ? `${scheme === '' ? '' : `${scheme}:`}//${authority}` : ''
  if (path.startsWith(prefix)) return `${origin}${path}${rest}`
  return `${origin}${prefix.replace(/\/$/, '')}${path}${rest}`
}
