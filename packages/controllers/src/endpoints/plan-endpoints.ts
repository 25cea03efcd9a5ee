import type { Reads } from '@kubewright/api'
import { omitUndefined } from '@kubewright/base'
import { Endpoints, type EndpointsDraft, type Pod, type Service } from '@kubewright/k8s'
import { isPodReady } from '../workload/pod-state.ts'
import { sameContent } from '../workload/write-status.ts'
import { addressesIn, familiesOf, hostnameIn, isHeadless, offersAddress, targetPort } from './backends.ts'
import { byPrintedHash } from './port-order.ts'
import { withTriggerTime } from './trigger-times.ts'

type Subset = NonNullable<Endpoints['subsets']>[number]
type Address = NonNullable<Subset['addresses']>[number]
type Port = NonNullable<Subset['ports']>[number]

const managedByLabel = 'endpoints.kubernetes.io/managed-by'
const managedBy = 'endpoint-controller'
const headlessLabel = 'service.kubernetes.io/headless'
const overCapacity = 'endpoints.kubernetes.io/over-capacity'

/** Whether the endpoints controller has written these Endpoints. */
export const isManaged = ({ metadata }: Endpoints): boolean => metadata.labels?.[managedByLabel] === managedBy

/** The maximum number of addresses; more are published in EndpointSlices only. */
export const maxAddresses = 1000

interface Offer {
  readonly address: Address
  readonly ready: boolean
}

/** The Endpoints that a service should have, based on the current ones; undefined when these are up to date. */
export function planEndpoints(
  service: Service,
  pods: readonly Pod[],
  current: Endpoints | undefined,
  triggerTime: string | undefined,
): (EndpointsDraft & Reads<Endpoints>) | undefined {
  const subsets = subsetsOf(service, pods)
  const { name, namespace } = service.metadata
  const kept = truncate(subsets)
  const labels = {
    ...service.metadata.labels,
    ...(isHeadless(service) ? { [headlessLabel]: '' } : {}),
    [managedByLabel]: managedBy,
  }
  if (!isHeadless(service)) Reflect.deleteProperty(labels, headlessLabel)
  if (
    current !== undefined &&
    sameContent(current.subsets ?? [], kept) &&
    sameContent(current.metadata.labels, labels) &&
    (current.metadata.annotations?.[overCapacity] !== undefined) === (kept !== subsets)
  ) {
    return undefined
  }
  const annotations = withTriggerTime(current?.metadata.annotations, triggerTime)
  Reflect.deleteProperty(annotations, overCapacity)
  if (kept !== subsets) annotations[overCapacity] = 'truncated'
  return Endpoints({
    metadata: {
      ...(current?.metadata as EndpointsDraft['metadata'] | undefined),
      name,
      ...(namespace === undefined ? {} : { namespace }),
      labels,
      annotations,
    },
    subsets: kept as NonNullable<EndpointsDraft['subsets']>,
  })
}

/** Groups ports with the same addresses into subsets. The result is sorted, so that equal states compare equal. */
function subsetsOf(service: Service, pods: readonly Pod[]): Subset[] {
  const { publishNotReadyAddresses: all = false } = service.spec ?? {}
  const byPort = new Map<string, Offer[]>()
  for (const pod of pods) {
    const address = offersAddress(pod, all) ? addressOf(service, pod) : undefined
    if (address === undefined) continue
    const offer = { address, ready: all || isPodReady(pod) }
    for (const port of portKeys(service, pod)) {
      const offers = byPort.get(port)
      if (offers === undefined) byPort.set(port, [offer])
      else offers.push(offer)
    }
  }
  const byOffers = new Map<string, { readonly offers: readonly Offer[]; readonly ports: string[] }>()
  for (const [port, offers] of byPort) {
    const key = JSON.stringify(offers.map(({ address }) => address.targetRef?.uid).sort())
    const group = byOffers.get(key)
    if (group === undefined) byOffers.set(key, { offers, ports: [port] })
    else group.ports.push(port)
  }
  return [...byOffers.values()]
    .map(({ offers, ports }) => ({ offers, ports: byPrintedHash(ports, printed) }))
    .sort((a, b) => (a.ports.join() < b.ports.join() ? -1 : 1))
    .map(({ offers, ports }) => subsetOf(offers, ports))
}

/** The text that Go prints for a port; undefined for {@link noPort}. */
function printed(text: string): string | undefined {
  if (text === noPort) return undefined
  const { name = '', port, protocol = 'TCP', appProtocol = '<nil>' } = JSON.parse(text) as Port
  return `(v1.EndpointPort){Name:(string)${name} Port:(int32)${port} Protocol:(v1.Protocol)${protocol} AppProtocol:(*string)${appProtocol}}`
}

/** The key for pods of a service without ports. */
const noPort = ''

/** The ports of the service that the pod serves, as text keys. */
function portKeys({ spec }: Service, pod: Pod): string[] {
  const wanted = spec?.ports ?? []
  // A service without ports publishes addresses only when it is headless.
  if (wanted.length === 0) return spec?.clusterIP === 'None' ? [noPort] : []
  return wanted.flatMap((port) => {
    const number = targetPort(pod, port)
    const { name, protocol, appProtocol } = port
    return number === undefined ? [] : [JSON.stringify({ name, port: number, protocol, appProtocol })]
  })
}

function addressOf(service: Service, pod: Pod): Address | undefined {
  const [family = 'IPv4'] = familiesOf(service)
  const [ip] = addressesIn(pod, family)
  if (ip === undefined) return undefined
  const { name, namespace, uid } = pod.metadata
  return omitUndefined<Address>({
    ip,
    hostname: hostnameIn(pod, service),
    nodeName: pod.spec.nodeName,
    targetRef: omitUndefined({ kind: 'Pod', namespace, name, uid }),
  })
}

function subsetOf(offers: readonly Offer[], ports: readonly string[]): Subset {
  const addresses = (ready: boolean): Address[] | undefined => {
    const some = offers.filter((offer) => offer.ready === ready).map(({ address }) => address)
    return some.length === 0 ? undefined : some.sort(byAddress)
  }
  const numbers = ports.filter((port) => port !== noPort).map((port) => JSON.parse(port) as Port)
  return omitUndefined<Subset>({
    addresses: addresses(true),
    notReadyAddresses: addresses(false),
    ports: numbers.length === 0 ? undefined : numbers,
  })
}

function byAddress(a: Address, b: Address): number {
  if (a.ip !== b.ip) return a.ip < b.ip ? -1 : 1
  return (a.targetRef?.uid ?? '') < (b.targetRef?.uid ?? '') ? -1 : 1
}

/**
 * Truncates to the maximum number of addresses, ready ones first, each subset in proportion. Returns the same list when
 * all fit.
 */
function truncate(subsets: Subset[]): Subset[] {
  const count = (of: 'addresses' | 'notReadyAddresses'): number =>
    subsets.reduce((sum, subset) => sum + (subset[of]?.length ?? 0), 0)
  const [ready, others] = [count('addresses'), count('notReadyAddresses')]
  if (ready + others <= maxAddresses) return subsets
  const tooMany = ready > maxAddresses ? 'addresses' : 'notReadyAddresses'
  const room = ready > maxAddresses ? maxAddresses : maxAddresses - ready
  let left = room
  return subsets.map((subset) => {
    const { notReadyAddresses: _, ...readyOnly } = subset
    const had = subset[tooMany] ?? []
    const share = Math.min(left, Math.ceil((had.length / (ready > maxAddresses ? ready : others)) * room))
    const some = had.slice(0, share)
    left -= some.length
    if (tooMany === 'addresses') return { ...readyOnly, addresses: some }
    return some.length === 0 ? readyOnly : { ...readyOnly, notReadyAddresses: some }
  })
}
