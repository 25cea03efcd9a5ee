import { isAlreadyExists, isConflict, toTime } from '@kubewright/api'
import { type Duration, Quantity } from '@kubewright/base'
import { Node, type NodeCondition, type NodeStatus } from '@kubewright/k8s'
import { type KeyContext, type KeyController, kindSource, timerSource } from '@kubewright/runtime'
import { defineBuiltinController } from '../workload/define-builtin-controller.ts'
import { sameContent } from '../workload/write-status.ts'
import type { NodeAddresses } from './node-addresses.ts'

/** The parameters of a simulated node. */
export interface NodeSpecification {
  readonly name: string
  readonly labels?: Readonly<Record<string, string>> | undefined
  readonly taints?:
    | readonly { readonly key: string; readonly value?: string | undefined; readonly effect: TaintEffect }[]
    | undefined
  /** The capacity for pods. @default 32 CPUs, 128Gi of memory, 5000 pods */
  readonly capacity?: Readonly<Record<string, string>> | undefined
}

type TaintEffect = 'NoExecute' | 'NoSchedule' | 'PreferNoSchedule'

const defaultCapacity = { cpu: '32', memory: '128Gi', 'ephemeral-storage': '500Gi', pods: '5000' }

/**
 * The annotation of nodes that send no heartbeats and count as alive without them. The node lifecycle controller does not
 * monitor these nodes.
 */
export const heartbeatAnnotation = 'kubewright.dev/heartbeat'

/** Registers the simulated nodes and maintains their status. */
export function nodeAgent(
  nodes: readonly NodeSpecification[],
  addresses: NodeAddresses,
  heartbeat: Duration | undefined,
  kubeletVersion: string,
): KeyController {
  const names = nodes.map(({ name }) => name)
  const byName = new Map(nodes.map((node) => [node.name, node]))
  return defineBuiltinController({
    name: 'node-agent',
    kind: Node,
    sources: [
      // Register once at start: like with a kubelet, a deleted node stays deleted until the next start.
      timerSource('24h', { keys: names, atStart: true }),
      // A node with heartbeats repairs its status when another component has changed it, like a kubelet.
      kindSource(Node, {
        map: (node) => {
          const { name } = node.metadata
          const isBroken = (heartbeat !== undefined && !isReady(node)) || hasUnequalExtended(node)
          return byName.has(name) && isBroken ? [name] : []
        },
      }),
    ],
    start: ({ clock }) => {
      const registered = new Set<string>()
      return async (name, context) => {
        const node = byName.get(name)
        if (node === undefined) return
        const found = await context.client.find(Node, name)
        if (found === undefined && registered.has(name)) return
        const live = found ?? (await register(context, node, addresses, heartbeat === undefined))
        registered.add(name)
        const status = nodeStatus(node, live, addresses, kubeletVersion, clock.now())
        // Patch the status, as kubelets do, because other controllers change the node at the same time.
        if (!sameContent(live.status, status)) {
          await context.client.subresource(Node, 'status').patch(name, { status }, { type: 'strategic' })
        }
        await untaint(context, name)
      }
    },
  })
}

const isReady = (node: Node): boolean =>
  node.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false

/** The amounts of extended resources, such as `example.com/gpu`: those with a domain that is not of Kubernetes. */
function extendedOf(amounts: Readonly<Record<string, unknown>> | undefined): Record<string, string> {
  const entries = Object.entries(amounts ?? {}).map(([name, amount]) => [name, String(amount)] as const)
  return Object.fromEntries(entries.filter(([name]) => name.includes('/') && !name.includes('kubernetes.io/')))
}

const hasUnequalExtended = ({ status }: Node): boolean =>
  !sameContent(extendedOf(status?.capacity), extendedOf(status?.allocatable))

async function register(
  { client }: KeyContext,
  node: NodeSpecification,
  addresses: NodeAddresses,
  silent: boolean,
): Promise<Node> {
  const { labels, name, taints } = node
  const draft = Node({
    metadata: {
      name,
      ...(silent ? { annotations: { [heartbeatAnnotation]: 'none' } } : {}),
      labels: {
        'kubernetes.io/arch': 'amd64',
        'kubernetes.io/hostname': name,
        'kubernetes.io/os': 'linux',
        ...labels,
      },
    },
    spec: {
      podCIDR: addresses.rangeOf(name),
      podCIDRs: [addresses.rangeOf(name)],
      ...(taints ? { taints: taints.map((taint) => ({ ...taint })) } : {}),
    },
  })
  try {
    return await client.create(draft)
  } catch (error) {
    if (!isAlreadyExists(error)) throw error
    return client.get(Node, name)
  }
}

/** Removes the not-ready taint that every node gets at registration; the node lifecycle controller may be disabled. */
async function untaint({ client }: Pick<KeyContext, 'client'>, name: string): Promise<void> {
  const node = await client.find(Node, name)
  const taints = node?.spec?.taints ?? []
  const left = taints.filter(({ key }) => key !== 'node.kubernetes.io/not-ready')
  if (!node || left.length === taints.length) return
  try {
    await client.update({ ...node, spec: { ...node.spec, taints: left } })
  } catch (error) {
    // Another write, such as the node lifecycle controller's, came first. After a conflict, reads come from the server.
    if (!isConflict(error)) throw error
    await untaint({ client }, name)
  }
}

function nodeStatus(
  node: NodeSpecification,
  live: Node,
  addresses: NodeAddresses,
  kubeletVersion: string,
  now: number,
): NodeStatus {
  // In the canonical form that the server stores, so that equal quantities compare equal.
  const amounts = Object.entries({ ...defaultCapacity, ...node.capacity })
  const own = Object.fromEntries(amounts.map(([name, text]) => [name, Quantity.parse(text).toString()]))
  // A client adds an extended resource to the capacity; the kubelet makes it allocatable, and removes it with the capacity.
  const capacity = { ...extendedOf(live.status?.capacity), ...own }
  const removed = Object.keys(extendedOf(live.status?.allocatable)).filter((name) => !(name in capacity))
  return {
    capacity,
    // In a patch, null removes an entry.
    allocatable: { ...capacity, ...Object.fromEntries(removed.map((name) => [name, null as never])) },
    conditions: conditionsOf(live, now),
    addresses: [
      { type: 'InternalIP', address: addresses.ofNode(node.name) },
      { type: 'Hostname', address: node.name },
    ],
    nodeInfo: {
      machineID: live.metadata.uid.replaceAll('-', ''),
      systemUUID: live.metadata.uid,
      bootID: live.metadata.uid,
      kernelVersion: '6.1.0',
      osImage: 'Kubewright simulated node',
      containerRuntimeVersion: 'kubewright://1',
      kubeletVersion,
      kubeProxyVersion: '',
      operatingSystem: 'linux',
      architecture: 'amd64',
    },
    daemonEndpoints: { kubeletEndpoint: { Port: 10250 } },
  }
}

const healthy: readonly (readonly [string, string, string, string])[] = [
  ['MemoryPressure', 'False', 'KubeletHasSufficientMemory', 'kubelet has sufficient memory available'],
  ['DiskPressure', 'False', 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure'],
  ['PIDPressure', 'False', 'KubeletHasSufficientPID', 'kubelet has sufficient PID available'],
  ['Ready', 'True', 'KubeletReady', 'kubelet is posting ready status'],
]

// The heartbeat controller updates the heartbeat times of unchanged conditions.
function conditionsOf(live: Node, now: number): NodeCondition[] {
  return healthy.map(([type, status, reason, message]) => {
    const current = live.status?.conditions?.find((one) => one.type === type)
    if (current?.status === status) return current as NodeCondition
    const time = toTime(now)
    return { type, status, lastHeartbeatTime: time, lastTransitionTime: time, reason, message }
  })
}
