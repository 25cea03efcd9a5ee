import { isAlreadyExists, isConflict, isNotFound, parseKey, selectorFrom } from '@kubewright/api'
import { CaughtError, errorText } from '@kubewright/base'
import { ControllerRevision, PersistentVolumeClaim, Pod, StatefulSet } from '@kubewright/k8s'
import {
  type ControllerParts,
  type KeyContext,
  type KeyController,
  type KeyOutcome,
  kindSource,
} from '@kubewright/runtime'
import { claimDependents } from '../workload/claims.ts'
import { defineBuiltinController } from '../workload/define-builtin-controller.ts'
import { assertRoomForPod } from '../workload/pod-budget.ts'
import { nextAvailability } from '../workload/pod-state.ts'
import {
  claimRevisions,
  deleteRevisions,
  planRevision,
  planTruncation,
  syncRevision,
  templateOf,
} from '../workload/revision-history.ts'
import { slowStart } from '../workload/slow-start.ts'
import { controlled, selectedBy } from '../workload/sources.ts'
import { revisionHash } from '../workload/template-hash.ts'
import { writeStatus } from '../workload/write-status.ts'
import { planStatefulSet, type StatefulAction, type StatefulFacts } from './plan-stateful-set.ts'
import { claimOwners, claimsOf, ordinalOf, repairedLabels, revisionLabel, statefulPod } from './stateful-pod.ts'
import { statefulSetStatus } from './stateful-set-status.ts'

/** Maintains pods with stable names and storage, in order. */
export const statefulSetController: KeyController = /* @__PURE__ */ defineBuiltinController({
  name: 'statefulset-controller',
  kind: StatefulSet,
  concurrency: 5,
  sources: [
    kindSource(StatefulSet),
    controlled(
      Pod,
      StatefulSet,
      selectedBy(StatefulSet, ({ spec }) => selectorFrom(spec.selector)),
    ),
    controlled(ControllerRevision, StatefulSet),
    // Watched only to fill the cache for claim lookups; events of the pods that use a claim requeue the set.
    kindSource(PersistentVolumeClaim, { map: () => [] }),
  ],
  start: (parts) => (key, context) => reconcile(key, context, parts),
})

interface Revisions {
  readonly current: ControllerRevision
  readonly update: ControllerRevision
}

async function reconcile(key: string, context: KeyContext, parts: ControllerParts): Promise<KeyOutcome | undefined> {
  const { client } = context
  const { clock, cluster } = parts
  const set = await client.find(StatefulSet, parseKey(key))
  if (set === undefined) return undefined
  const clients = { client, api: cluster.api }
  const selector = selectorFrom(set.spec.selector)

  const revisions = await claimRevisions(clients, StatefulSet, set, selector)
  const pods = await claimDependents(clients, {
    ownerKind: StatefulSet,
    owner: set,
    kind: Pod,
    selector,
    // A pod whose name has no ordinal is not a member of the set, even if its labels match.
    mayAdopt: (pod) => ordinalOf(pod, set) !== undefined,
  })

  const plan = planRevision(revisions, set.spec.template)
  // The garbage collector deletes the revisions of a set that is being deleted, and each deletion requeues the set. A new revision
  // would have to be deleted too, so that the deletion of the set might never end.
  if (plan.kind === 'create' && set.metadata.deletionTimestamp !== undefined) {
    const { currentRevision = '', updateRevision = '', collisionCount = 0 } = set.status ?? {}
    const rest = { set, pods, currentRevision, updateRevision, now: clock.now() }
    await writeStatus(client, StatefulSet, set, statefulSetStatus(rest, collisionCount))
    return undefined
  }
  const synced = await syncRevision(
    clients,
    {
      owner: set,
      template: set.spec.template,
      collisionCount: set.status?.collisionCount ?? 0,
      hashLabel: 'controller.kubernetes.io/hash',
      hash: revisionHash,
    },
    plan,
  )
  const update = synced.revision
  const current = revisions.find(({ metadata }) => metadata.name === set.status?.currentRevision) ?? update
  const facts: StatefulFacts = {
    set,
    pods,
    currentRevision: current.metadata.name,
    updateRevision: update.metadata.name,
    now: clock.now(),
  }
  const actions = planStatefulSet(facts)
  const { error } = await slowStart(actions, (action) => act(context, set, action, { current, update }), 16)
  const replaced = actions.flatMap((action) => (action.do === 'delete' && action.why === 'update' ? [action.pod] : []))
  await writeStatus(client, StatefulSet, set, statefulSetStatus(facts, synced.collisionCount, new Set(replaced)))
  if (error !== undefined) throw error

  const live = new Set([current, update].map(({ metadata }) => metadata.name))
  for (const pod of pods) live.add(pod.metadata.labels?.[revisionLabel] ?? '')
  await deleteRevisions(client, planTruncation(revisions, live, set.spec.revisionHistoryLimit ?? 10))
  const next = nextAvailability(pods, set.spec.minReadySeconds ?? 0, clock.now())
  return next === undefined ? undefined : { requeueAfter: next }
}

async function act(context: KeyContext, set: StatefulSet, action: StatefulAction, revisions: Revisions): Promise<void> {
  const { client } = context
  switch (action.do) {
    case 'create': {
      const revision = revisions[action.revision]
      const draft = statefulPod(set, templateOf(revision), revision.metadata.name, action.ordinal)
      const { name } = draft.metadata
      await claimsAreFree(context, set, action.ordinal, name)
      await createClaims(context, set, action.ordinal, name)
      const made = await withEvent(context, set, 'Create', name, async () => {
        try {
          assertRoomForPod(context.cluster)
          return await client.create(draft)
        } catch (error) {
          // Another pod has the name: its next event requeues the set. A member that is not in the cache yet is fine.
          if (!isAlreadyExists(error)) throw error
          return undefined
        }
      })
      if (made !== undefined) await settleOwners(context, set, made, action.ordinal)
      return
    }
    case 'delete': {
      const { namespace = '', name, uid } = action.pod.metadata
      await withEvent(context, set, 'Delete', name, async () => {
        try {
          await client.delete(Pod, { namespace, name }, { preconditions: { uid } })
        } catch (error) {
          if (!isNotFound(error) && !isConflict(error)) throw error
        }
      })
      return
    }
    case 'claims':
      await createClaims(context, set, action.ordinal, action.pod.metadata.name)
      await settleOwners(context, set, action.pod, action.ordinal)
      return
    case 'repair':
      await repair(context, set, action.pod, action.ordinal)
  }
}

async function createClaims(context: KeyContext, set: StatefulSet, ordinal: number, pod: string): Promise<void> {
  const { client, events } = context
  for (const draft of claimsOf(set, ordinal)) {
    const { name, namespace = '' } = draft.metadata
    if ((await client.find(PersistentVolumeClaim, { namespace, name })) !== undefined) continue
    const where = `${name} Pod ${pod} in StatefulSet ${set.metadata.name}`
    try {
      await client.create(draft)
      events.record(set, { type: 'Normal', reason: 'SuccessfulCreate', message: `Create Claim ${where} success` })
    } catch (error) {
      if (isAlreadyExists(error)) continue
      const message = `Create Claim ${name} for Pod ${pod} in StatefulSet ${set.metadata.name} failed error: ${errorText(error)}`
      events.record(set, { type: 'Warning', reason: 'FailedCreate', message })
      throw error
    }
  }
}

/**
 * Throws, to retry later, while a claim is still owned by an earlier pod of the same name: it is about to be deleted.
 */
async function claimsAreFree({ client }: KeyContext, set: StatefulSet, ordinal: number, pod: string): Promise<void> {
  if (set.spec.persistentVolumeClaimRetentionPolicy?.whenScaled !== 'Delete') return
  for (const { metadata } of claimsOf(set, ordinal)) {
    const { name, namespace = '' } = metadata
    const claim = await client.find(PersistentVolumeClaim, { namespace, name })
    const taken = claim?.metadata.ownerReferences?.some((owner) => owner.kind === 'Pod' && owner.name === pod)
    if (taken) throw new CaughtError(`claim ${name} is still owned by an earlier pod ${pod}`)
  }
}

async function repair(context: KeyContext, set: StatefulSet, pod: Pod, ordinal: number): Promise<void> {
  const { namespace = '', name } = pod.metadata
  const labels = repairedLabels(pod, ordinal)
  if (labels !== undefined) await context.client.patch(Pod, { namespace, name }, { metadata: { labels } })
  await settleOwners(context, set, pod, ordinal)
}

/** Sets the owners of a pod's claims according to the set's retention policy. */
async function settleOwners({ client }: KeyContext, set: StatefulSet, pod: Pod, ordinal: number): Promise<void> {
  const { namespace = '' } = pod.metadata
  for (const { metadata } of claimsOf(set, ordinal)) {
    const key = { namespace, name: metadata.name }
    const claim = await client.find(PersistentVolumeClaim, key)
    const ownerReferences = claim && claimOwners(claim, set, pod)
    if (claim === undefined || ownerReferences === undefined) continue
    const { resourceVersion } = claim.metadata
    await client.patch(PersistentVolumeClaim, key, { metadata: { resourceVersion, ownerReferences } })
  }
}

/** Creates or deletes a pod and records the outcome in an Event of the set. */
async function withEvent<T>(
  { events }: KeyContext,
  set: StatefulSet,
  verb: 'Create' | 'Delete',
  pod: string,
  work: () => Promise<T>,
): Promise<T> {
  const what = `${verb} Pod ${pod} in StatefulSet ${set.metadata.name}`
  try {
    const result = await work()
    events.record(set, { type: 'Normal', reason: `Successful${verb}`, message: `${what} successful` })
    return result
  } catch (error) {
    events.record(set, {
      type: 'Warning',
      reason: `Failed${verb}`,
      message: `${what} failed error: ${errorText(error)}`,
    })
    throw error
  }
}
