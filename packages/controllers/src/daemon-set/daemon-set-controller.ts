import { keyOf, parseKey, selectorFrom } from '@kubewright/api'
import { ControllerRevision, DaemonSet, Node, Pod } from '@kubewright/k8s'
import {
  type ControllerParts,
  changed,
  type KeyContext,
  type KeyController,
  type KeyOutcome,
  kindSource,
} from '@kubewright/runtime'
import { claimDependents } from '../workload/claims.ts'
import { defineBuiltinController } from '../workload/define-builtin-controller.ts'
import { createPod, deletePod, isNamespaceTerminating } from '../workload/pod-control.ts'
import { nextAvailability } from '../workload/pod-state.ts'
import {
  claimRevisions,
  deleteRevisions,
  planRevision,
  planTruncation,
  syncRevision,
} from '../workload/revision-history.ts'
import { inParallel, slowStart } from '../workload/slow-start.ts'
import { controlled, selectedBy } from '../workload/sources.ts'
import { writeStatus } from '../workload/write-status.ts'
import { daemonPod, hashLabel } from './daemon-pod.ts'
import { type DaemonFacts, daemonSetStatus, planDaemonSet } from './plan-daemon-set.ts'

// Back-off before a daemon pod that fails repeatedly is recreated on its node: doubles with each failure.
const firstDelay = 1000
const longestDelay = 15 * 60_000

/** Keeps one pod of each daemon set on every eligible node. */
export const daemonSetController: KeyController = /* @__PURE__ */ defineBuiltinController({
  name: 'daemonset-controller',
  kind: DaemonSet,
  concurrency: 2,
  sources: [
    kindSource(DaemonSet),
    controlled(
      Pod,
      DaemonSet,
      selectedBy(DaemonSet, ({ spec }) => selectorFrom(spec.selector)),
    ),
    controlled(ControllerRevision, DaemonSet),
    kindSource(Node, {
      predicates: [changed('metadata.labels', 'spec')],
      map: async (_, { client }) => (await client.list(DaemonSet, { namespace: '' })).map(keyOf),
    }),
  ],
  start: (parts) => {
    const failures = new FailureDelays()
    return (key, context) => reconcile(key, context, parts, failures)
  },
})

/** The back-off of failed daemon pods, by set and node. */
class FailureDelays {
  readonly #byKey = new Map<string, { readonly delay: number; readonly since: number }>()

  /** The remaining delay in milliseconds. Returns 0 when the delay is over, and starts the next, longer one. */
  next(key: string, now: number): number {
    const known = this.#byKey.get(key)
    if (known !== undefined && now < known.since + known.delay) return known.since + known.delay - now
    // After a long time without failures the back-off starts again from the first delay.
    const again = known !== undefined && now < known.since + 2 * longestDelay
    const delay = again ? Math.min(known.delay * 2, longestDelay) : firstDelay
    this.#byKey.delete(key)
    this.#byKey.set(key, { delay, since: now })
    // The entries are in the order of their times: drop those that no longer matter.
    for (const [old, { since }] of this.#byKey) {
      if (now < since + 2 * longestDelay) break
      this.#byKey.delete(old)
    }
    return 0
  }
}

async function reconcile(
  key: string,
  context: KeyContext,
  { clock, cluster }: ControllerParts,
  failures: FailureDelays,
): Promise<KeyOutcome | undefined> {
  const { client, events } = context
  const set = await client.find(DaemonSet, parseKey(key))
  if (set === undefined) return undefined
  const selector = selectorFrom(set.spec.selector)
  if (selector.requirements.length === 0) {
    const message = 'This daemon set is selecting all pods. A non-empty selector is required.'
    events.record(set, { type: 'Warning', reason: 'SelectingAll', message })
    return undefined
  }
  if (set.metadata.deletionTimestamp !== undefined) return undefined

  const clients = { client, api: cluster.api }
  const revisions = await claimRevisions(clients, DaemonSet, set, selector)
  const synced = await syncRevision(
    clients,
    { owner: set, template: set.spec.template, collisionCount: set.status?.collisionCount ?? 0, hashLabel },
    planRevision(revisions, set.spec.template),
  )
  const hash = synced.revision.metadata.labels?.[hashLabel] ?? ''
  const pods = await claimDependents(clients, { ownerKind: DaemonSet, owner: set, kind: Pod, selector })
  const nodes = await client.list(Node)
  const facts: DaemonFacts = { set, nodes, pods, hash, now: clock.now() }

  const plan = planDaemonSet(facts)
  let wait: number | undefined
  const going = plan.delete.filter((pod) => {
    if (pod.status?.phase !== 'Failed' || !plan.ended.has(pod)) return true
    const left = failures.next(`${set.metadata.uid}/${pod.spec.nodeName ?? ''}`, facts.now)
    if (left > 0) wait = Math.min(wait ?? left, left)
    return left === 0
  })
  for (const pod of going.filter((one) => plan.ended.has(one))) tellEnded(context, set, pod)
  await inParallel(going, (pod) => deletePod(context, set, pod))
  const { error } = await slowStart(plan.create, (node) => createPod(context, set, daemonPod(set, node, hash)))

  const live = new Set([synced.revision.metadata.name])
  const hashes = new Set(pods.map((pod) => pod.metadata.labels?.[hashLabel]))
  for (const { metadata } of revisions) if (hashes.has(metadata.labels?.[hashLabel])) live.add(metadata.name)
  await deleteRevisions(client, planTruncation(revisions, live, set.spec.revisionHistoryLimit ?? 10))
  await writeStatus(client, DaemonSet, set, daemonSetStatus(facts, synced.collisionCount))
  if (error !== undefined && !isNamespaceTerminating(error)) throw error
  const next = nextAvailability(pods, set.spec.minReadySeconds ?? 0, clock.now())
  const soonest = Math.min(wait ?? Number.POSITIVE_INFINITY, next ?? Number.POSITIVE_INFINITY)
  return Number.isFinite(soonest) ? { requeueAfter: soonest } : undefined
}

function tellEnded({ events }: KeyContext, set: DaemonSet, pod: Pod): void {
  const where = `${pod.metadata.namespace}/${pod.metadata.name} on node ${pod.spec.nodeName}`
  if (pod.status?.phase === 'Failed') {
    const message = `Found failed daemon pod ${where}, will try to kill it`
    events.record(set, { type: 'Warning', reason: 'FailedDaemonPod', message })
  } else {
    const message = `Found succeeded daemon pod ${where}, will try to delete it`
    events.record(set, { type: 'Normal', reason: 'SucceededDaemonPod', message })
  }
}
