import { controllerRef, type Reads } from '@kubewright/api'
import { append, omitUndefined } from '@kubewright/base'
import { EndpointSlice, type EndpointSliceDraft, type Node, type Pod, type Service } from '@kubewright/k8s'
import { isPodReady } from '../workload/pod-state.ts'
import { sameContent } from '../workload/write-status.ts'
import {
  addressesIn,
  familiesOf,
  hostnameIn,
  type IpFamily,
  isHeadless,
  offersAddress,
  targetPort,
} from './backends.ts'
import { sortSlicePorts } from './port-order.ts'

type Endpoint = EndpointSlice['endpoints'][number]
type Port = NonNullable<EndpointSlice['ports']>[number]

/** The label with the name of the service that a slice belongs to. */
export const serviceNameLabel = 'kubernetes.io/service-name'
/** The label with the name of the controller that manages a slice. */
export const managedByLabel = 'endpointslice.kubernetes.io/managed-by'
/** The manager of the slices of services with a selector. */
export const sliceController = 'endpointslice-controller.k8s.io'
const headlessLabel = 'service.kubernetes.io/headless'
const zoneLabel = 'topology.kubernetes.io/zone'
/** The same default as kube-controller-manager. */
export const maxEndpointsPerSlice = 100

/** The draft of a slice to create. */
export type NewSlice = EndpointSliceDraft & Reads<EndpointSlice>

/** The changes that bring the slices of a service in sync with its pods. */
export interface SlicePlan {
  readonly create: readonly NewSlice[]
  readonly update: readonly EndpointSlice[]
  readonly delete: readonly EndpointSlice[]
  /** Pods whose nodes do not exist in the cache. They are skipped until the nodes appear. */
  readonly skipped: readonly Pod[]
}

/** Input of {@link planEndpointSlices}. */
export interface SliceFacts {
  readonly service: Service
  readonly pods: readonly Pod[]
  readonly nodes: ReadonlyMap<string, Node>
  /** The slices that this controller manages and that are not being deleted. */
  readonly slices: readonly EndpointSlice[]
}

/**
 * Compares the slices of a service with its pods. Endpoints stay in their slices where possible, so that few slices
 * change.
 */
export function planEndpointSlices(facts: SliceFacts): SlicePlan {
  const { service, slices } = facts
  const families = familiesOf(service)
  const plan = { create: [] as NewSlice[], update: [] as EndpointSlice[], delete: [] as EndpointSlice[] }
  const skipped = new Set<Pod>()
  append(
    plan.delete,
    slices.filter(({ addressType }) => !families.includes(addressType as IpFamily)),
  )
  for (const family of families) {
    const ofFamily = slices.filter(({ addressType }) => addressType === family)
    planFamily(facts, family, ofFamily, plan, skipped)
  }
  return { ...plan, skipped: [...skipped] }
}

type Changes = { create: NewSlice[]; update: EndpointSlice[]; delete: EndpointSlice[] }

function planFamily(
  facts: SliceFacts,
  family: IpFamily,
  slices: readonly EndpointSlice[],
  plan: Changes,
  skipped: Set<Pod>,
): void {
  const { service } = facts
  const isOwn = ({ metadata }: EndpointSlice): boolean =>
    (metadata.ownerReferences ?? []).some(({ uid, kind }) => uid === service.metadata.uid && kind === 'Service')
  const own = slices.filter(isOwn)
  const create: NewSlice[] = []
  const update: EndpointSlice[] = []
  const unwanted: EndpointSlice[] = slices.filter((slice) => !isOwn(slice))
  const wanted = wantedByPorts(facts, family, skipped)
  for (const [key, { ports, endpoints }] of wanted) {
    const there = own.filter((slice) => portsKey(slice.ports ?? []) === key)
    fill(service, family, ports, endpoints, there, { create, update, delete: unwanted })
  }
  append(
    unwanted,
    own.filter((slice) => !wanted.has(portsKey(slice.ports ?? []))),
  )
  if (unwanted.length === slices.length && create.length === 0) {
    // An empty slice shows that the controller manages a service without pods.
    const empty = newSlice(service, family, [], [])
    const [only] = unwanted
    if (unwanted.length === 1 && only && isOwn(only) && isPlaceholder(only, empty)) unwanted.length = 0
    else create.push(empty)
  }
  // Reuse a surplus slice for a new one, instead of one delete and one create.
  const reused = new Set<EndpointSlice>()
  for (const slice of unwanted.filter(isOwn)) {
    const draft = create.pop()
    if (draft === undefined) break
    reused.add(slice)
    update.push({ ...slice, ...contentOf(draft), metadata: { ...slice.metadata, labels: draft.metadata.labels ?? {} } })
  }
  append(plan.create, create)
  append(plan.update, update)
  append(
    plan.delete,
    unwanted.filter((slice) => !reused.has(slice)),
  )
}

const contentOf = ({ endpoints, ports }: NewSlice): Pick<EndpointSlice, 'endpoints' | 'ports'> =>
  ({ endpoints: endpoints ?? [], ports: ports ?? [] }) as Pick<EndpointSlice, 'endpoints' | 'ports'>

function isPlaceholder(slice: EndpointSlice, empty: NewSlice): boolean {
  const bare = (slice.endpoints ?? []).length === 0 && (slice.ports ?? []).length === 0
  return bare && sameContent(slice.metadata.labels, empty.metadata.labels)
}

interface Wanted {
  readonly ports: readonly Port[]
  readonly endpoints: Map<string, Endpoint>
}

/** The endpoints grouped by ports: one named port may have different numbers in different pods. */
function wantedByPorts(facts: SliceFacts, family: IpFamily, skipped: Set<Pod>): Map<string, Wanted> {
  const { service, pods, nodes } = facts
  const wanted = new Map<string, Wanted>()
  for (const pod of pods) {
    if (!offersAddress(pod, true)) continue
    const ports = portsOf(service, pod)
    const key = portsKey(ports)
    let group = wanted.get(key)
    if (group === undefined) {
      group = { ports: sortSlicePorts(ports), endpoints: new Map() }
      wanted.set(key, group)
    }
    const { nodeName = '' } = pod.spec
    const node = nodes.get(nodeName)
    if (node === undefined && service.spec?.publishNotReadyAddresses !== true) {
      skipped.add(pod)
      continue
    }
    const endpoint = endpointOf(service, pod, node, family)
    if (endpoint.addresses.length > 0) group.endpoints.set(endpointKey(endpoint), endpoint)
  }
  return wanted
}

function portsOf(service: Service, pod: Pod): Port[] {
  return (service.spec?.ports ?? []).flatMap((port) => {
    const number = targetPort(pod, port)
    const { name = '', protocol = 'TCP', appProtocol } = port
    return number === undefined ? [] : [omitUndefined<Port>({ name, port: number, protocol, appProtocol })]
  })
}

/** A key that is equal for equal sets of ports, in any order. */
export function portsKey(ports: readonly Port[]): string {
  return JSON.stringify(
    ports
      .map(({ name = '', port, protocol = 'TCP', appProtocol }) => [name, port, protocol, appProtocol ?? null].join())
      .sort(),
  )
}

function endpointOf(service: Service, pod: Pod, node: Node | undefined, family: IpFamily): Endpoint {
  const { name, namespace, uid, deletionTimestamp } = pod.metadata
  const serving = isPodReady(pod)
  const terminating = deletionTimestamp !== undefined
  const ready = service.spec?.publishNotReadyAddresses === true || (serving && !terminating)
  const zone = node?.metadata.labels?.[zoneLabel]
  return omitUndefined<Endpoint>({
    addresses: addressesIn(pod, family),
    conditions: { ready, serving, terminating },
    hostname: hostnameIn(pod, service),
    targetRef: omitUndefined({ kind: 'Pod', namespace, name, uid }),
    nodeName: pod.spec.nodeName === '' ? undefined : pod.spec.nodeName,
    zone: zone === '' ? undefined : zone,
  })
}

const endpointKey = ({ addresses, hostname, targetRef }: Endpoint): string =>
  [[...addresses].sort(), hostname, targetRef?.namespace, targetRef?.name].join('|')

/** Keeps endpoints in their existing slices, then fills slices with room, then creates new slices. */
function fill(
  service: Service,
  family: IpFamily,
  ports: readonly Port[],
  wanted: Map<string, Endpoint>,
  there: readonly EndpointSlice[],
  plan: Changes,
): void {
  const left = new Map(wanted)
  const changed: EndpointSlice[] = []
  const same: EndpointSlice[] = []
  for (const slice of there) {
    const had = slice.endpoints ?? []
    const kept = had.flatMap((endpoint) => {
      const now = left.get(endpointKey(endpoint))
      left.delete(endpointKey(endpoint))
      return now === undefined ? [] : [now]
    })
    const labels = labelsOf(service)
    const differs = kept.length !== had.length || kept.some((endpoint, at) => !sameEndpoint(endpoint, had[at]))
    if (kept.length === 0 && differs) plan.delete.push(slice)
    else if (differs || !sameContent(slice.metadata.labels, labels)) {
      changed.push({ ...slice, endpoints: kept, metadata: { ...slice.metadata, labels } })
    } else same.push(slice)
  }
  const queue = [...left.values()]
  // Slices that change anyway take further endpoints, the fullest first.
  changed.sort((a, b) => b.endpoints.length - a.endpoints.length)
  const room = ({ endpoints }: EndpointSlice): number => maxEndpointsPerSlice - (endpoints ?? []).length
  const add = (slice: EndpointSlice): EndpointSlice => ({
    ...slice,
    endpoints: [...(slice.endpoints ?? []), ...queue.splice(0, room(slice))],
  })
  append(
    plan.update,
    changed.map((slice) => (queue.length === 0 ? slice : add(slice))),
  )
  while (queue.length > 0) {
    // Of the slices that can take all remaining endpoints, use the one that will be fullest.
    const rest = Math.min(queue.length, maxEndpointsPerSlice)
    const fits = same.filter((slice) => room(slice) >= rest)
    const best = fits.reduce<EndpointSlice | undefined>((a, b) => (a && room(a) <= room(b) ? a : b), undefined)
    if (best === undefined) {
      plan.create.push(newSlice(service, family, ports, queue.splice(0, maxEndpointsPerSlice)))
    } else {
      same.splice(same.indexOf(best), 1)
      plan.update.push(add(best))
    }
  }
}

function sameEndpoint(a: Endpoint, b: Endpoint | undefined): boolean {
  // Another controller manages the hints.
  const { hints: _, ...rest } = b ?? ({} as Endpoint)
  return sameContent(a, rest)
}

function newSlice(
  service: Service,
  family: IpFamily,
  ports: readonly Port[],
  endpoints: readonly Endpoint[],
): NewSlice {
  const { name, namespace } = service.metadata
  return EndpointSlice({
    metadata: {
      name: '',
      generateName: `${name}-`,
      ...(namespace === undefined ? {} : { namespace }),
      labels: labelsOf(service),
      ownerReferences: [controllerRef(service)],
    },
    addressType: family,
    endpoints: [...endpoints],
    ports: [...ports],
  })
}

function labelsOf(service: Service): Record<string, string> {
  const { [headlessLabel]: _h, [serviceNameLabel]: _s, [managedByLabel]: _m, ...labels } = service.metadata.labels ?? {}
  return {
    ...labels,
    ...(isHeadless(service) ? { [headlessLabel]: '' } : {}),
    [serviceNameLabel]: service.metadata.name,
    [managedByLabel]: sliceController,
  }
}
