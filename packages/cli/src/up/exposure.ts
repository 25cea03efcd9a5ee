import type { PlaneConfig } from '@kubewright/controlplane'

/** Describes what a server exposes at the URLs at which other machines can connect. Empty without such URLs. */
export function exposure(urls: readonly string[], { access = {} }: PlaneConfig): string[] {
  if (urls.length === 0) return []
  const { authorization = [], anonymous = true, tokens = [] } = access
  const modes: readonly string[] =
    'authorizers' in authorization ? authorization.authorizers.map(({ type }) => type) : authorization
  return [
    `Other machines can connect to ${urls.join(', ')}`,
    ...(modes.includes('AlwaysAllow')
      ? ['  Every client with valid credentials may do everything: see --authorization-mode']
      : []),
    anonymous
      ? '  Clients without credentials may read /version, /healthz, /livez, /readyz, and what roles grant to system:anonymous'
      : '  Clients without credentials get 401',
    ...(tokens.length > 0 ? [`  Static bearer tokens that are accepted: ${tokens.length}`] : []),
  ]
}
