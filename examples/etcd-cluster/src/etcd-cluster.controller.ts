import { type Context, type Controller, condition, defineController, isNotFound } from 'kubewright'
import { Pod, Service } from 'kubewright/k8s'
import { clientServiceFor, clusterLabels, memberServiceFor, podFor } from './children.ts'
import { type Etcd, EtcdRefusal } from './etcd.ts'
import { EtcdCluster } from './etcd-cluster.ts'
import { observe, type View } from './observe.ts'
import { planStep, quorumOf, type Step } from './plan-step.ts'
import { memberName, type Sites } from './site.ts'

/** The dependencies of the operator. */
export interface EtcdWorld {
  readonly etcd: Etcd
  readonly sites: Sites
}

/** Keeps etcd clusters at their size. Each reconcile takes one step, so a new leader never finds a half-done operation. */
export const etcdClusterController = (world: EtcdWorld): Controller =>
  defineController(EtcdCluster, {
    owns: [Pod, Service],
    rbac: [{ apiGroups: [''], resources: ['pods', 'services'], verbs: ['delete'] }],
    // etcd sends no events, so the controller polls it frequently while the cluster changes.
    hotLoop: { times: 100 },

    async reconcile(cluster, context) {
      const view = await observe(cluster, world, context)
      await context.apply(clientServiceFor(cluster))
      for (const { ordinal } of view.members ?? []) {
        if (ordinal !== undefined) await context.apply(memberServiceFor(cluster, ordinal))
      }
      const step = planStep(view.facts)
      const refusal = await carryOut(step, cluster, view, world, context)
      return { status: statusOf(cluster, view, step, refusal), requeueAfter: step.do === 'nothing' ? '10s' : '1s' }
    },
  })

/** Carries out a step. Resolves with etcd's message when etcd rejects it for now. */
async function carryOut(
  step: Step,
  cluster: EtcdCluster,
  view: View,
  { etcd, sites }: EtcdWorld,
  context: Context,
): Promise<string | undefined> {
  if (step.do === 'record' || step.do === 'wait' || step.do === 'nothing') return undefined
  const { apply, event, signal } = context
  const name = memberName(cluster.metadata, step.ordinal)
  const site = sites(view.name, step.ordinal)
  // A step that needs etcd is planned only when a member responded.
  const url = view.speaker ?? site.clientUrl
  try {
    switch (step.do) {
      case 'start': {
        const others = (view.members ?? []).filter(({ ordinal }) => ordinal !== step.ordinal)
        if (!step.joins) await apply(memberServiceFor(cluster, step.ordinal))
        await apply(podFor(cluster, step.ordinal, site, step.joins ? others : []))
        break
      }
      case 'add':
        // The other members resolve the DNS name as soon as the member is added.
        await apply(memberServiceFor(cluster, step.ordinal))
        await etcd.addLearner(url, site.peerUrl, { signal })
        event('Normal', 'MemberAdded', `Added member ${name}`)
        break
      case 'promote':
        await etcd.promote(url, step.id, { signal })
        event('Normal', 'MemberPromoted', `Member ${name} has caught up and is now a voter`)
        break
      case 'remove':
        await etcd.remove(url, step.id, { signal })
        event('Normal', 'MemberRemoved', `Removed member ${name}: ${step.why}`)
        break
      case 'stop':
        await remove(Pod, view.pods.get(step.ordinal), context)
        break
      case 'forget':
        await remove(Service, view.services.get(step.ordinal), context)
        break
    }
    return undefined
  } catch (error) {
    if (error instanceof EtcdRefusal) return error.message
    throw error
  }
}

async function remove(kind: typeof Pod | typeof Service, object: Pod | Service | undefined, context: Context) {
  if (object === undefined) return
  const { client, signal } = context
  const { metadata } = object
  try {
    await client.delete(kind, metadata, { preconditions: { uid: metadata.uid }, signal })
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
}

function statusOf(cluster: EtcdCluster, view: View, step: Step, refusal: string | undefined) {
  const { members = [] } = view
  const voters = members.filter(({ isLearner }) => !isLearner)
  const healthy = voters.filter(({ isHealthy }) => isHealthy).length
  const available = view.members !== undefined && healthy >= quorumOf(voters.length)
  const isFounded = cluster.status?.clusterID !== undefined
  const isComplete = step.do === 'nothing'
  const known = cluster.status?.members ?? []
  return {
    ...(view.clusterId === undefined ? {} : { clusterID: view.clusterId }),
    lastOrdinal: step.do === 'add' && refusal === undefined ? step.ordinal : view.lastOrdinal,
    size: view.members === undefined ? (cluster.status?.size ?? 0) : voters.length,
    healthyMembers: healthy,
    // Without a response from a majority, keep the last known members.
    members:
      view.members === undefined
        ? [...known]
        : members.map(({ id, name, since, state }) => ({ id, name, since, state })),
    selector: Object.entries(clusterLabels(cluster))
      .map((pair) => pair.join('='))
      .join(','),
    conditions: [
      available
        ? condition('Available', true, 'Quorum', `${healthy} of ${voters.length} members are healthy`)
        : isFounded
          ? condition('Available', false, 'NoQuorum', 'no majority of the members responds')
          : condition('Available', false, 'Starting', 'the first member has not responded yet'),
      isComplete
        ? condition('Complete', true, 'AsSpecified', `${voters.length} members`)
        : condition('Complete', false, reasonOf(step), refusal ?? describe(cluster, step)),
    ],
  }
}

const reasonOf = (step: Step): string =>
  step.do === 'wait' ? step.reason : `Will${step.do.charAt(0).toUpperCase()}${step.do.slice(1)}`

function describe({ metadata }: EtcdCluster, step: Step): string {
  if (step.do === 'wait') return waitTexts[step.reason]
  if (step.do === 'record' || step.do === 'nothing') return 'recording the state of the cluster'
  const name = memberName(metadata, step.ordinal)
  return step.do === 'remove' ? `removing ${name}: ${step.why}` : `${progressTexts[step.do]} ${name}`
}

const waitTexts = {
  Starting: 'waiting for the first member',
  NoQuorum: 'waiting for a majority: restart the members, or restore the cluster from a backup',
  Recovering: 'waiting for a member that does not respond',
  CatchingUp: 'waiting for the new member to start',
} as const

const progressTexts = {
  start: 'starting',
  add: 'adding',
  promote: 'promoting',
  stop: 'stopping',
  forget: 'deleting the Service of',
} as const
