import { IPAddress, parseCIDRSloppy } from '@kubewright/base'

/** The proxy from the environment, by the rules of Go's http.ProxyFromEnvironment; undefined for none. */
export function proxyFromEnv(env: Readonly<Record<string, string | undefined>>, server: URL): string | undefined {
  const of = (name: string): string => env[name] || env[name.toLowerCase()] || ''
  const proxy = of(server.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY')
  if (proxy === '' || isExempt(server, of('NO_PROXY'))) return undefined
  return proxy.includes('://') ? proxy : `http://${proxy}`
}

function isExempt(server: URL, noProxy: string): boolean {
  const host = server.hostname.replace(/^\[|\]$/g, '').toLowerCase()
  const address = addressOf(host)
  if (host === 'localhost' || address?.isLoopback()) return true
  const port = server.port || (server.protocol === 'https:' ? '443' : '80')
  return noProxy.split(',').some((part) => {
    const rule = part.trim().toLowerCase()
    if (rule === '' || rule === '*') return rule === '*'
    if (rule.includes('/')) return address !== undefined && (parseCIDRSloppy(rule)?.contains(address) ?? false)
    const [, name = rule, wantedPort] = /^(.*?)(?::(\d+))?$/.exec(addressOf(rule) ? '' : rule) ?? []
    if (wantedPort !== undefined && wantedPort !== port) return false
    const wanted = (name === '' ? rule : name).replace(/^\*?\./, '')
    const subdomainsOnly = rule.startsWith('.') || rule.startsWith('*.')
    return (host === wanted && !subdomainsOnly) || (address === undefined && host.endsWith(`.${wanted}`))
  })
}

function addressOf(host: string): IPAddress | undefined {
  try {
    return IPAddress.parse(host)
  } catch {
    return undefined
  }
}
