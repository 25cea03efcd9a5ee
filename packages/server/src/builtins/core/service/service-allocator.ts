import { newInternalError, newInvalid } from '@kubewright/api'
import { type IPAddress, IPPrefix, isPathSegmentName, parseIPSloppy, type Random } from '@kubewright/base'
import { type FieldError, FieldPath, invalid, required } from '@kubewright/schema'
import type { Store } from '@kubewright/storage'
import { unclassifiedError } from '../../../request/unclassified-error.ts'
import type { MutableObject } from '../../../resource/object.ts'
import { storedObject } from '../../../resource/stored-object.ts'
import { NumberPool } from './number-pool.ts'
import type { Claim, ClaimKind, ServiceClaims } from './service-claims.ts'
import {
  allocatesNodePorts,
  needsClusterIp,
  needsHealthCheck,
  type ServiceSpec,
  serviceSpecOf,
} from './service-types.ts'

/** The ranges from which the server allocates addresses and ports of services. */
export interface ServiceRanges {
  /** IPv4 range of cluster IPs. @default '10.0.0.0/24' */
  readonly clusterIpRange?: string | undefined
  /** First and last node port. @default [30000, 32767] */
  readonly nodePortRange?: readonly [first: number, last: number] | undefined
}

/** The IPv4 range of cluster IPs, unless the server has another. */
export const defaultClusterIpRange = '10.0.0.0/24'

/** The cluster IP of the service `kubernetes`: the first address of the range after that of the network. */
export function kubernetesAddress(range: string = defaultClusterIpRange): string {
  return textOf(numberOf(IPPrefix.parse(range).masked().address) + 1)
}

/** A dry run shows node ports above this one, which no service can have. */
const dryRunPort = 32_768
const ipsPath = FieldPath.of('spec', 'clusterIPs')
const portsPath = FieldPath.of('spec', 'ports')

/** The addresses and ports that one write reserves. They are released if the write fails. */
export interface Reservation {
  readonly ips: Set<number>
  readonly ports: Set<number>
  /** The highest reserved port. */
  highestPort?: number | undefined
}

/**
 * Allocates cluster IPs and node ports of services. It loads the allocations from the stored services once and updates them with every
 * write, so that the services are the only stored state.
 *
 * The methods that reserve are synchronous: no other write can run between the check and the reservation. On a store that other servers
 * share, this view may be outdated in both directions. There, {@link ServiceAllocator.claim} decides: a reservation counts only once it
 * has succeeded.
 */
export class ServiceAllocator {
  readonly #store: Store
  /** Undefined unless other servers share the store. */
  readonly #claims: ServiceClaims | undefined
  readonly #prefix: string
  readonly #range: IPPrefix
  readonly #nodePorts: readonly [number, number]
  readonly #ips: NumberPool
  readonly #ports: NumberPool
  #loaded: Promise<void> | undefined

  constructor(parts: {
    store: Store
    prefix: string
    random: Random
    ranges?: ServiceRanges | undefined
    claims?: ServiceClaims | undefined
  }) {
    const { clusterIpRange = defaultClusterIpRange, nodePortRange = [30_000, 32_767] } = parts.ranges ?? {}
    this.#store = parts.store
    this.#claims = parts.claims
    this.#prefix = parts.prefix
    this.#range = IPPrefix.parse(clusterIpRange).masked()
    this.#nodePorts = nodePortRange
    const random = parts.random.fork('services')
    // The first and the last address of the range are the network and broadcast addresses.
    const first = numberOf(this.#range.address) + 1
    const size = 2 ** (32 - this.#range.bits) - 2
    this.#ips = new NumberPool({ first, size, reserved: band(size, 16, 16, 256), random })
    const count = nodePortRange[1] - nodePortRange[0] + 1
    this.#ports = new NumberPool({ first: nodePortRange[0], size: count, reserved: band(count, 32, 16, 128), random })
  }

  /** Loads the allocations from the store. To be awaited before any other method is called. */
  ready(): Promise<void> {
    this.#loaded ??= this.#load().catch((error: unknown) => {
      this.#loaded = undefined
      throw error
    })
    return this.#loaded
  }

  async #load(): Promise<void> {
    this.#replace(await (this.#claims?.repair(() => this.#owned()) ?? this.#owned()))
  }

  /** The numbers of all stored services. */
  async #owned(): Promise<Claim[]> {
    const { entries } = await this.#store.list({ prefix: this.#prefix })
    return entries.flatMap((entry) => {
      const stored = storedObject(entry)
      // The allocations of a service that cannot be read are unknown.
      return stored.problem === undefined ? claimsOf(stored.copy()) : []
    })
  }

  #replace(used: readonly Claim[]): void {
    const numbersOf = (kind: ClaimKind): number[] => used.flatMap((one) => (one.kind === kind ? [one.number] : []))
    this.#ips.reset(numbersOf('ips'))
    this.#ports.reset(numbersOf('ports'))
  }

  /** Whether other servers allocate from the same ranges, so that reservations must be claimed. */
  get isShared(): boolean {
    return this.#claims !== undefined
  }

  /** Reads the allocations of other servers again. Reservations that are not claimed yet are forgotten, and their claim decides. */
  async refresh(): Promise<void> {
    if (this.#claims) this.#replace(await this.#claims.list())
  }

  /** Makes stored claims and services agree, and reads the allocations of other servers. */
  async repair(): Promise<void> {
    await this.#load()
  }

  /**
   * Claims a reservation for a service among all servers. Returns false, and has undone the reservation, when another server was first.
   * The numbers that others hold then count as taken here.
   */
  async claim(reservation: Reservation, owner: string): Promise<boolean> {
    if (!this.#claims) return true
    let lost: readonly Claim[]
    try {
      lost = await this.#claims.take(claimsIn(reservation, owner))
    } catch (error) {
      this.undo(reservation)
      throw error
    }
    if (lost.length === 0) return true
    this.undo(reservation)
    for (const { kind, number } of lost) this.#pool(kind).take(number)
    return false
  }

  /** Releases the claims of a reservation whose service was not stored. */
  async unclaim(reservation: Reservation, owner: string): Promise<void> {
    await this.#claims?.release(claimsIn(reservation, owner))
  }

  #pool(kind: ClaimKind): NumberPool {
    return kind === 'ips' ? this.#ips : this.#ports
  }

  /** Reserves the requested cluster IPs and allocates the missing ones, one per family. */
  allocateIps(service: MutableObject, reservation: Reservation, dryRun: boolean): void {
    const spec = serviceSpecOf(service)
    const ips = [...(spec.clusterIPs ?? [])]
    for (let i = 0; i < (spec.ipFamilies ?? []).length; i++) {
      const wanted = ips[i] ?? ''
      if (wanted === '') {
        // A dry run shows the first address of the range instead of an allocated one.
        if (dryRun) {
          ips[i] = this.#range.address.toString()
          continue
        }
        const free = this.#ips.next(reservation.ips)
        if (free === undefined) throw newInternalError(new Error('failed to allocate a serviceIP: range is full'))
        const unnamed = addressProblem(service, textOf(free))
        if (unnamed !== undefined) {
          const shown = (spec.ipFamilies ?? []).map((_, at) => ips[at] ?? '')
          throw rejection(service, [invalid(ipsPath, shown, `failed to allocate IP: ${unnamed}`)])
        }
        this.#reserve(this.#ips, free, reservation.ips, false)
        ips[i] = textOf(free)
        continue
      }
      const number = numberOf(parseIPSloppy(wanted)!.unmap())
      const problem = this.#ipProblem(number, wanted, dryRun) ?? (dryRun ? undefined : addressProblem(service, wanted))
      if (problem) {
        throw rejection(service, [
          invalid(ipsPath, spec.clusterIPs ?? null, `failed to allocate IP ${wanted}: ${problem}`),
        ])
      }
      this.#reserve(this.#ips, number, reservation.ips, dryRun)
    }
    if (ips.length > 0) {
      spec.clusterIPs = ips
      spec.clusterIP = ips[0]
    }
  }

  /** Allocates the node ports of a new service. Ports with the same number and different protocols share a node port. */
  allocatePorts(service: MutableObject, reservation: Reservation, dryRun: boolean): void {
    const spec = serviceSpecOf(service)
    const ports = spec.ports ?? []
    const chosen = new Map<number | undefined, number>()
    // The first node port that a port requests.
    const requested = new Map<number | undefined, number>()
    for (const { port, nodePort } of ports) if (nodePort && !requested.has(port)) requested.set(port, nodePort)
    for (const [i, port] of ports.entries()) {
      if (!port.nodePort && !allocatesNodePorts(spec)) continue
      const shared = chosen.get(port.port)
      if (shared === undefined) {
        const wanted = requested.get(port.port)
        if (wanted) this.#takePort(service, i, wanted, reservation, dryRun)
        port.nodePort = wanted || this.#nextPort(reservation, dryRun)
        chosen.set(port.port, port.nodePort)
      } else if (!port.nodePort) port.nodePort = shared
      else if (port.nodePort !== shared) this.#takePort(service, i, port.nodePort, reservation, dryRun)
    }
  }

  /** Reserves and allocates the node ports that an update adds. */
  updatePorts(service: MutableObject, old: ServiceSpec, reservation: Reservation, dryRun: boolean): void {
    const spec = serviceSpecOf(service)
    const before = new Set((old.ports ?? []).map(({ nodePort }) => nodePort))
    const seen = new Set<string>()
    for (const [i, port] of (spec.ports ?? []).entries()) {
      if (!port.nodePort) {
        if (allocatesNodePorts(spec)) port.nodePort = this.#nextPort(reservation, dryRun)
      } else if (!before.has(port.nodePort) && !reservation.ports.has(port.nodePort)) {
        this.#takePort(service, i, port.nodePort, reservation, dryRun)
      }
      const used = `{${port.protocol} ${port.nodePort ?? 0}}`
      if (seen.has(used) && port.nodePort) throw unclassifiedError(`duplicate nodePort: ${used}`)
      seen.add(used)
    }
  }

  allocateHealthCheckPort(spec: ServiceSpec, reservation: Reservation, dryRun: boolean): void {
    const wanted = spec.healthCheckNodePort
    if (!wanted) {
      spec.healthCheckNodePort = this.#nextPort(reservation, dryRun)
      return
    }
    const problem = this.#portProblem(wanted, reservation, dryRun)
    if (problem) {
      throw newInternalError(new Error(`failed to allocate requested HealthCheck NodePort ${wanted}: ${problem}`))
    }
    this.#reservePort(wanted, reservation, dryRun)
  }

  /** Releases the reservation of a failed write. */
  undo({ ips, ports }: Reservation): void {
    for (const ip of ips) this.#ips.release(ip)
    for (const port of ports) this.#ports.release(port)
  }

  /** Releases the addresses and ports of a service, except those that it still has after an update. */
  async release(before: MutableObject, now?: MutableObject): Promise<void> {
    const kept = new Set((now ? claimsOf(now) : []).map(({ kind, number }) => `${kind} ${number}`))
    const released = claimsOf(before).filter(({ kind, number }) => !kept.has(`${kind} ${number}`))
    for (const { kind, number } of released) this.#pool(kind).release(number)
    await this.#claims?.release(released)
  }

  /** Returns why an address cannot be allocated. A dry run checks the range only, and its message names the range. */
  #ipProblem(number: number, text: string, dryRun: boolean): string | undefined {
    if (!this.#ips.has(number)) {
      return dryRun
        ? `the provided IP (${text}) is not in the valid range. The range of valid IPs is ${this.#range}`
        : 'the provided network does not match the current range'
    }
    return dryRun || this.#ips.isFree(number) ? undefined : 'provided IP is already allocated'
  }

  #takePort(service: MutableObject, index: number, port: number, reservation: Reservation, dryRun: boolean): void {
    const problem = this.#portProblem(port, reservation, dryRun)
    if (problem) throw rejection(service, [invalid(portsPath.index(index).child('nodePort'), port, problem)])
    this.#reservePort(port, reservation, dryRun)
  }

  #reservePort(port: number, reservation: Reservation, dryRun: boolean): void {
    this.#reserve(this.#ports, port, reservation.ports, dryRun)
    reservation.highestPort = Math.max(port, reservation.highestPort ?? port)
  }

  /** Returns why a port cannot be allocated. A dry run does not check the range. */
  #portProblem(port: number, reservation: Reservation, dryRun: boolean): string | undefined {
    if (!dryRun && !this.#ports.has(port)) {
      const range = this.#nodePorts.join('-')
      return `provided port is not in the valid range. The range of valid ports is ${range}`
    }
    const free = this.#ports.isFree(port) && !reservation.ports.has(port)
    return free ? undefined : 'provided port is already allocated'
  }

  #nextPort(reservation: Reservation, dryRun: boolean): number {
    if (dryRun) {
      // A port beyond the range that no other port of this service has.
      const dummy = (reservation.highestPort ?? dryRunPort) + 1
      reservation.ports.add(dummy)
      reservation.highestPort = dummy
      return dummy
    }
    const free = this.#ports.next(reservation.ports)
    if (free === undefined) throw newInternalError(new Error('failed to allocate a nodePort: range is full'))
    this.#reservePort(free, reservation, false)
    return free
  }

  /** Reserves a number. A dry run records it, so as not to choose it twice, but does not take it from the pool. */
  #reserve(pool: NumberPool, value: number, reserved: Set<number>, dryRun: boolean): void {
    if (!dryRun) pool.take(value)
    reserved.add(value)
  }
}

/** Why the IPAddress object of an allocation cannot be created: it names the service, whose name is not validated yet. */
function addressProblem({ metadata }: MutableObject, ip: string): string | undefined {
  const name = metadata.name ?? ''
  const path = FieldPath.of('spec', 'parentRef', 'name')
  const errors =
    name === '' ? [required(path)] : isPathSegmentName(name, false).map((problem) => invalid(path, name, problem))
  if (errors.length === 0) return undefined
  return newInvalid({ group: 'networking.k8s.io', kind: 'IPAddress' }, ip, errors).message
}

function rejection(service: MutableObject, errors: readonly FieldError[]): Error {
  return newInvalid({ group: '', kind: 'Service' }, service.metadata.name ?? '', errors)
}

/** The size of the band at the start of a range that is allocated last. */
function band(size: number, share: number, least: number, most: number): number {
  if (size < least) return 0
  return Math.min(Math.max(least, Math.floor(size / share)), most)
}

/** The numbers that a service has. */
function claimsOf(service: MutableObject): Claim[] {
  const spec = serviceSpecOf(service)
  const owner = service.metadata.uid ?? ''
  return [
    ...ownedIps(spec).map((number) => ({ kind: 'ips', number, owner }) as const),
    // Ports with different protocols may share a node port.
    ...[...new Set(ownedPorts(spec))].map((number) => ({ kind: 'ports', number, owner }) as const),
  ]
}

function claimsIn({ ips, ports }: Reservation, owner: string): Claim[] {
  return [
    ...[...ips].map((number) => ({ kind: 'ips', number, owner }) as const),
    ...[...ports].map((number) => ({ kind: 'ports', number, owner }) as const),
  ]
}

function ownedIps(spec: ServiceSpec): number[] {
  if (!needsClusterIp(spec)) return []
  return (spec.clusterIPs ?? []).flatMap((text) => {
    const ip = parseIPSloppy(text)?.unmap()
    return ip?.family === 4 ? [numberOf(ip)] : []
  })
}

function ownedPorts(spec: ServiceSpec): number[] {
  const ports = (spec.ports ?? []).flatMap(({ nodePort }) => (nodePort ? [nodePort] : []))
  if (needsHealthCheck(spec) && spec.healthCheckNodePort) ports.push(spec.healthCheckNodePort)
  return ports
}

function numberOf(address: IPAddress): number {
  return address
    .toString()
    .split('.')
    .reduce((value, part) => value * 256 + Number(part), 0)
}

function textOf(value: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join('.')
}
