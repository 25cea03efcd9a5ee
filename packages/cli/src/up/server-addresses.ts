import { networkInterfaces } from 'node:os'
import { IPAddress, UsageError } from '@kubewright/base'
import { kubernetesAddress } from '@kubewright/server'
import type { ApiServerOptions } from './api-server-options.ts'

/** The addresses of a server that follow from its bind address and advertise address. */
export interface ServerAddresses {
  /** The host of URLs for clients on this machine. */
  readonly local: string
  /** The address for the endpoints of the service `kubernetes`; undefined if only this machine can connect. */
  readonly advertised: string | undefined
  /** The addresses at which other machines can connect. */
  readonly exposed: readonly string[]
  /** The names and addresses that the serving certificate needs besides its default ones. */
  readonly certified: readonly string[]
}

/** Derives the addresses. `machine` are the addresses of this machine. Throws {@link UsageError} for an unusable advertise address. */
export function serverAddresses(
  options: Pick<ApiServerOptions, 'bindAddress' | 'advertiseAddress' | 'clusterIpRange'>,
  machine: readonly string[] = machineAddresses(),
): ServerAddresses {
  const bind = IPAddress.parse(options.bindAddress)
  const everywhere = bind.isUnspecified()
  // "::" also accepts IPv4 connections.
  const reachable = everywhere ? machine.filter((ip) => bind.family === 6 || !ip.includes(':')) : [options.bindAddress]
  const exposed = bind.isLoopback() ? [] : reachable.filter((ip) => !IPAddress.parse(ip).isLoopback())
  const { advertiseAddress } = options
  if (advertiseAddress !== undefined && !IPAddress.parse(advertiseAddress).isGlobalUnicast()) {
    throw new UsageError(
      `--advertise-address must be an address that the rest of the cluster can reach, not "${advertiseAddress}"`,
    )
  }
  const advertised = advertiseAddress ?? exposed.find((ip) => IPAddress.parse(ip).isGlobalUnicast())
  return {
    local: everywhere ? '127.0.0.1' : options.bindAddress,
    advertised,
    exposed,
    certified: [
      ...new Set([
        ...exposed,
        ...(advertised === undefined ? [] : [advertised]),
        kubernetesAddress(options.clusterIpRange),
      ]),
    ],
  }
}

/** The https URL of a host, with brackets around an IPv6 address. */
export function urlOf(host: string, port: number): string {
  return `https://${host.includes(':') ? `[${host}]` : host}:${port}`
}

/** Describes what a server that other machines can reach exposes to them. Empty for a server on a loopback address. */
export function exposure(
  { exposed }: ServerAddresses,
  port: number,
  {
    authorization,
    anonymous,
    tokens,
    hasToken,
  }: Pick<ApiServerOptions, 'authorization' | 'anonymous' | 'tokens'> & {
    readonly hasToken: boolean
  },
): string[] {
  if (exposed.length === 0) return []
  const lines = [`Other machines can connect to ${exposed.map((ip) => urlOf(ip, port)).join(', ')}`]
  if (authorization.includes('AlwaysAllow')) {
    lines.push('  Every client with valid credentials may do everything: see --authorization-mode')
  }
  lines.push(
    anonymous
      ? '  Clients without credentials may read /version, /healthz, /livez, /readyz, and what roles grant to system:anonymous'
      : '  Clients without credentials get 401',
  )
  const count = tokens.length + (hasToken ? 1 : 0)
  if (count > 0) lines.push(`  Static bearer tokens that are accepted: ${count}`)
  return lines
}

function machineAddresses(): string[] {
  return Object.values(networkInterfaces())
    .flatMap((found) => found ?? [])
    .map(({ address }) => address.replace(/%.*$/, ''))
    .sort((a, b) => Number(a.includes(':')) - Number(b.includes(':')))
}
