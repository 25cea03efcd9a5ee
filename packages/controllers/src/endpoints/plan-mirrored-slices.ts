import { controllerRef } from '@kubewright/api'
import { omitUndefined } from '@kubewright/base'
import { EndpointSlice, type Endpoints } from '@kubewright/k8s'
import { sameContent } from '../workload/write-status.ts'
import { type IpFamily, ipFamilyOf } from './backends.ts'
import { managedByLabel, type NewSlice, portsKey, type SlicePlan, serviceNameLabel } from './plan-endpoint-slices.ts'
import { sortSlicePorts } from './port-order.ts'
import { triggerTimeAnnotation } from './trigger-times.ts'

type Subset = NonNullable<Endpoints['subsets']>[number]
type Address = NonNullable<Subset['addresses']>[number]
type Endpoint = EndpointSlice['endpoints'][number]
type Port = NonNullable<EndpointSlice['ports']>[number]

/** The manager of slices that mirror Endpoints. */
export const mirroringController = 'endpointslicemirroring-controller.k8s.io'
const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration'
/** The same default as kube-controller-manager. */
const maxPerSubset = 1000

/** Plans the slices that mirror Endpoints, and counts the addresses beyond the limit, which are skipped. */
export function planMirroredSlices(
  endpoints: Endpoints,
  slices: readonly EndpointSlice[],
): Omit<SlicePlan, 'skipped'> & { readonly skipped: number } {
  const create: NewSlice[] = []
  const update: EndpointSlice[] = []
  const left = [...slices]
  const { wanted, skipped } = wantedSlices(endpoints)
  for (const draft of wanted) {
    const fits = ({ addressType, ports }: EndpointSlice): boolean =>
      addressType === draft.addressType && portsKey(ports ?? []) === portsKey((draft.ports ?? []) as readonly Port[])
    const at = left.findIndex(fits)
    const [there] = at === -1 ? [] : left.splice(at, 1)
    if (there === undefined) create.push(draft)
    else if (!says(there, draft)) update.push(asDrafted(there, draft))
  }
  // Reuse a surplus slice for a new one.
  for (const draft of create.splice(0)) {
    const at = left.findIndex(({ addressType }) => addressType === draft.addressType)
    const [there] = at === -1 ? [] : left.splice(at, 1)
    if (there === undefined) create.push(draft)
    else update.push(asDrafted(there, draft))
  }
  return { create, update, delete: left, skipped }
}

function says({ endpoints, metadata }: EndpointSlice, draft: NewSlice): boolean {
  return (
    sameContent(endpoints ?? [], draft.endpoints) &&
    sameContent(metadata.labels ?? {}, draft.metadata.labels) &&
    sameContent(metadata.annotations ?? {}, draft.metadata.annotations)
  )
}

function asDrafted(
  slice: EndpointSlice,
  { endpoints, ports, metadata: { labels, annotations } }: NewSlice,
): EndpointSlice {
  const content = { endpoints: endpoints ?? [], ports: ports ?? [] } as Pick<EndpointSlice, 'endpoints' | 'ports'>
  return { ...slice, ...content, metadata: { ...slice.metadata, labels: labels ?? {}, annotations: annotations ?? {} } }
}

function wantedSlices(endpoints: Endpoints): { readonly wanted: NewSlice[]; readonly skipped: number } {
  const groups = new Map<string, { family: IpFamily; ports: Port[]; endpoints: Endpoint[] }>()
  let skipped = 0
  for (const { addresses = [], notReadyAddresses = [], ports: offered = [] } of endpoints.subsets ?? []) {
    const ports = sortSlicePorts(
      offered.map(({ name = '', port, protocol = 'TCP', appProtocol }) =>
        omitUndefined<Port>({ name, port, protocol, appProtocol }),
      ),
    )
    const all = [
      ...addresses.map((address) => endpointOf(address, true)),
      ...notReadyAddresses.map((address) => endpointOf(address, false)),
    ]
    skipped += Math.max(0, all.length - maxPerSubset)
    for (const endpoint of all.slice(0, maxPerSubset)) {
      const family = ipFamilyOf(endpoint.addresses[0] ?? '')
      const key = `${family} ${portsKey(ports)}`
      const group = groups.get(key) ?? { family, ports, endpoints: [] }
      groups.set(key, group)
      group.endpoints.push(endpoint)
    }
  }
  const wanted = [...groups.values()].map(({ family, ports, endpoints: some }) =>
    newSlice(endpoints, family, ports, some),
  )
  return { wanted, skipped }
}

function endpointOf({ ip, hostname, nodeName, targetRef }: Address, ready: boolean): Endpoint {
  return omitUndefined<Endpoint>({ addresses: [ip], conditions: { ready }, hostname, targetRef, nodeName })
}

function newSlice(owner: Endpoints, family: IpFamily, ports: Port[], endpoints: Endpoint[]): NewSlice {
  const { name, namespace, labels } = owner.metadata
  const { [triggerTimeAnnotation]: _t, [lastApplied]: _l, ...annotations } = owner.metadata.annotations ?? {}
  return EndpointSlice({
    metadata: {
      name: '',
      generateName: `${name}-`,
      ...(namespace === undefined ? {} : { namespace }),
      labels: { ...labels, [serviceNameLabel]: name, [managedByLabel]: mirroringController },
      annotations,
      ownerReferences: [controllerRef(owner)],
    },
    addressType: family,
    endpoints,
    ports,
  })
}
