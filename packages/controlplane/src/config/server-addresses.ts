import { networkInterfaces } from 'node:os'
import { IPAddress } from '@kubewright/base'
import { kubernetesAddress } from '@kubewright/server'
import type { PlaneConfig } from './plane-config.ts'

/** The addresses of a server that follow from its bind address and advertise address. */
export interface ServerAddresses {
  readonly bind: string
  /** The host of URLs for clients on this machine. */
  readonly local: string
  /** The address for the endpoints of the service `kubernetes`; undefined for a machine with loopback addresses only. */
  readonly advertised: string | undefined
  /** The addresses at which other machines can connect. */
  readonly exposed: readonly string[]
  /** The names and addresses that the serving certificate needs besides its default ones. */
  readonly certified: readonly string[]
}

/** Derives the addresses of a served control plane. `machine` are the addresses of this machine. */
export function serverAddresses(
  { serving = {}, serviceRanges }: Pick<PlaneConfig, 'serving' | 'serviceRanges'>,
  machine: readonly string[] = machineAddresses(),
): ServerAddresses {
  const { bindAddress = '127.0.0.1', advertiseAddress } = serving
  const bind = IPAddress.parse(bindAddress)
  const everywhere = bind.isUnspecified()
  // "::" also accepts IPv4 connections.
  const reachable = everywhere ? machine.filter((ip) => bind.family === 6 || !ip.includes(':')) : [bindAddress]
  const exposed = bind.isLoopback() ? [] : reachable.filter((ip) => !IPAddress.parse(ip).isLoopback())
  // A server on a loopback address publishes the address of its host, like kube-apiserver, although nothing listens there: clients in the
  // cluster look the endpoint up, and few connect to it.
  const ofHost = machine.toSorted((a, b) => Number(isOther(a, bind)) - Number(isOther(b, bind)))
  const advertised =
    advertiseAddress ?? (bind.isLoopback() ? ofHost : exposed).find((ip) => IPAddress.parse(ip).isGlobalUnicast())
  const clusterAddress = kubernetesAddress(serviceRanges?.clusterIpRange)
  return {
    bind: bindAddress,
    local: everywhere ? '127.0.0.1' : bindAddress,
    advertised,
    exposed,
    certified: [
      ...new Set([...exposed, ...(advertiseAddress === undefined ? [] : [advertiseAddress]), clusterAddress]),
    ],
  }
}

const isOther = (ip: string, bind: IPAddress): boolean => IPAddress.parse(ip).family !== bind.family

/** The https URL of a host, with brackets around an IPv6 address. */
export function urlOf(host: string, port: number): string {
  return `https://${host.includes(':') ? `[${host}]` : host}:${port}`
}

function machineAddresses(): string[] {
  return Object.values(networkInterfaces())
    .flatMap((found) => found ?? [])
    .map(({ address }) => address.replace(/%.*$/, ''))
    .sort((a, b) => Number(a.includes(':')) - Number(b.includes(':')))
}
