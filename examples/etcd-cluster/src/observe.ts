import type { Context } from 'kubewright'
import { Pod, Service } from 'kubewright/k8s'
import { ordinalOf } from './children.ts'
import type { EtcdHealth, EtcdMember } from './etcd.ts'
import type { EtcdWorld } from './etcd-cluster.controller.ts'
import type { EtcdCluster } from './etcd-cluster.ts'
import type { Facts, MemberFacts } from './plan-step.ts'
import { type ClusterName, memberName } from './site.ts'

/** A member with its observed state. */
export interface MemberView extends EtcdMember, MemberFacts {
  readonly state: 'Joining' | 'Healthy' | 'Unhealthy'
  readonly since: string
}

/** The observed state of a cluster. */
export interface View {
  readonly name: ClusterName
  readonly clusterId: string | undefined
  /** The URL of a member that reaches a majority. */
  readonly speaker: string | undefined
  readonly members: readonly MemberView[] | undefined
  readonly pods: ReadonlyMap<number, Pod>
  readonly services: ReadonlyMap<number, Service>
  /** The highest ordinal that a member has or had. */
  readonly lastOrdinal: number
  readonly facts: Facts
}

/** Observes a cluster: its pods and Services, and the responses of its members. */
export async function observe(
  cluster: EtcdCluster,
  world: EtcdWorld,
  { children, now, signal }: Context,
): Promise<View> {
  const { etcd, sites } = world
  const name = { name: cluster.metadata.name, namespace: cluster.metadata.namespace ?? '' }
  const pods = byOrdinal(await children(Pod))
  const services = byOrdinal(await children(Service))
  const known = cluster.status?.clusterID
  const health = new Map<string, EtcdHealth>()
  const check = async (url: string): Promise<void> => {
    const found = await etcd.health(url, { signal }).catch(() => undefined)
    signal.throwIfAborted()
    // Ignore a member of another cluster at that address.
    if (found !== undefined && (known === undefined || found.clusterId === known)) health.set(url, found)
  }
  await Promise.all([...pods.keys()].map((ordinal) => check(sites(name, ordinal).clientUrl)))
  const [speaker] = health.keys()
  const listed = speaker === undefined ? undefined : await etcd.members(speaker, { signal })

  const recorded = cluster.status?.lastOrdinal ?? -1
  const highest = Math.max(recorded, ...pods.keys())
  // An operator that crashed may have added one more member without recording it.
  const ordinals = new Map(range(highest + 2).map((ordinal) => [sites(name, ordinal).peerUrl, ordinal]))
  const members: MemberView[] = []
  for (const member of listed ?? []) {
    const ordinal = ordinals.get(member.peerUrl)
    const url = ordinal === undefined ? member.clientUrl : sites(name, ordinal).clientUrl
    if (ordinal === undefined && url !== undefined) await check(url)
    const found = url === undefined ? undefined : health.get(url)
    const isHealthy = found?.memberId === member.id
    const state = member.isLearner ? 'Joining' : isHealthy ? 'Healthy' : 'Unhealthy'
    const before = cluster.status?.members.find(({ id }) => id === member.id)
    const since = before?.state === state ? before.since : now().toISOString()
    members.push({
      ...member,
      name: member.name || (ordinal === undefined ? member.peerUrl : memberName(name, ordinal)),
      ordinal,
      hasStarted: member.name !== '',
      isHealthy,
      isLeader: isHealthy && found.isLeader,
      isOverdue: state !== 'Healthy' && now().getTime() - Date.parse(since) >= cluster.spec.replaceAfterSeconds * 1000,
      state,
      since,
    })
  }
  const current = listed === undefined ? undefined : members
  return {
    name,
    clusterId: known ?? (speaker === undefined ? undefined : health.get(speaker)?.clusterId),
    speaker,
    members: current,
    pods,
    services,
    lastOrdinal: Math.max(highest, ...members.map(({ ordinal = -1 }) => ordinal)),
    facts: {
      size: cluster.spec.size,
      isFounded: known !== undefined,
      lastOrdinal: recorded,
      names: [...services.keys()],
      pods: new Map([...pods].map(([ordinal, pod]) => [ordinal, podFacts(pod)])),
      members: current,
    },
  }
}

const podFacts = ({ metadata, status }: Pod) => ({
  isOver: status?.phase === 'Failed' || status?.phase === 'Succeeded',
  isStopping: metadata.deletionTimestamp !== undefined,
})

function byOrdinal<T extends Pod | Service>(objects: readonly T[]): ReadonlyMap<number, T> {
  const found = new Map<number, T>()
  for (const object of objects) {
    const ordinal = ordinalOf(object)
    if (ordinal !== undefined) found.set(ordinal, object)
  }
  return found
}

const range = (length: number): number[] => Array.from({ length }, (_, index) => index)
