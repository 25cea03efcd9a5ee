import { type AnyKind, controllerOf, type KubeObject, parseKey, type Selector, type TypeMeta } from '@kubewright/api'
import type { Clock, Duration } from '@kubewright/base'
import { defineBudget } from '@kubewright/base'
import { Pod, ReplicaSet } from '@kubewright/k8s'
import { type Cluster, type KeyContext, type KeyController, kindSource } from '@kubewright/runtime'
import { claimDependents } from '../workload/claims.ts'
import { defineBuiltinController } from '../workload/define-builtin-controller.ts'
import { createPod, deletePod, isNamespaceTerminating } from '../workload/pod-control.ts'
import { podFromTemplate, type TemplateLike } from '../workload/pod-from-template.ts'
import { isPodActive, isPodTerminating, nextAvailability } from '../workload/pod-state.ts'
import { rankForDeletion } from '../workload/rank-for-deletion.ts'
import { asError, inParallel, slowStart } from '../workload/slow-start.ts'
import { controlled, selectedBy } from '../workload/sources.ts'
import { writeStatus } from '../workload/write-status.ts'
import { type ReplicaStatus, replicaStatus } from './replica-set-status.ts'

/** An object that maintains a number of identical pods. */
export interface ReplicaOwner extends KubeObject {
  readonly spec: {
    readonly replicas?: number | undefined
    readonly minReadySeconds?: number | undefined
    readonly template?: TemplateLike | undefined
  }
  readonly status?: ReplicaStatus | undefined
}

/** The differences between ReplicaSet and ReplicationController. */
export interface ReplicaKindFacts<T extends ReplicaOwner> {
  /** The controller's name in kube-controller-manager. */
  readonly name: string
  /** The component that its Events name. @default the name */
  readonly reporter?: string | undefined
  readonly kind: AnyKind
  readonly selectorOf: (object: T) => Selector
  /** Whether the status counts terminating pods. */
  readonly countsTerminating: boolean
}

// The maximum number of pods created or deleted in one reconcile; the rest follows in the next one.
const burst = defineBudget(500, {
  group: 'controllers',
  what: 'pods that a ReplicaSet or ReplicationController creates in one sync',
  answer: 'the next sync continues',
})

/** Creates the controller that maintains the number of pods of each object of the kind. */
export function replicaController<T extends ReplicaOwner>(facts: ReplicaKindFacts<T>): KeyController {
  const { kind, name, reporter = name } = facts
  return defineBuiltinController({
    name,
    reporter,
    kind,
    concurrency: 5,
    sources: [kindSource(kind), controlled(Pod, kind, selectedBy(kind, facts.selectorOf))],
    start: ({ clock, cluster }) => {
      return (key, context) => reconcile(facts, parseKey(key), context, cluster, clock)
    },
  })
}

async function reconcile<T extends ReplicaOwner>(
  facts: ReplicaKindFacts<T>,
  key: { readonly name: string; readonly namespace?: string | undefined },
  context: KeyContext,
  { api }: Cluster,
  clock: Clock,
): Promise<{ requeueAfter?: Duration | undefined } | undefined> {
  const { client } = context
  const found: (T & TypeMeta) | undefined = await client.find(facts.kind, key)
  if (found === undefined) return undefined
  const selector = facts.selectorOf(found)
  const owned = await claimDependents(
    { client, api },
    { ownerKind: facts.kind, owner: found, kind: Pod, selector, mayAdopt: isPodActive },
  )
  const active = owned.filter(isPodActive)

  let failure: Error | undefined
  if (found.metadata.deletionTimestamp === undefined) {
    try {
      // The events of the pods requeue the object. Its status then counts them, with one write instead of two.
      if (await manage(found, active, context, clock.now())) return undefined
    } catch (error) {
      failure = asError(error)
    }
  }
  const { minReadySeconds = 0, replicas: wanted = 1, template } = found.spec
  const status = replicaStatus(found.status, {
    generation: found.metadata.generation,
    wanted,
    minReadySeconds,
    templateLabels: template?.metadata?.labels ?? {},
    active,
    terminating: facts.countsTerminating ? owned.filter(isPodTerminating).length : undefined,
    failure,
    now: clock.now(),
  })
  await writeStatus(client, facts.kind, found, status)
  if (failure !== undefined) throw failure
  const next = minReadySeconds > 0 ? nextAvailability(active, minReadySeconds, clock.now()) : undefined
  return next === undefined ? undefined : { requeueAfter: next }
}

/** Creates the missing pods, or deletes the surplus ones. Returns whether all of them will have events. */
async function manage(
  owner: ReplicaOwner & TypeMeta,
  active: readonly Pod[],
  context: KeyContext,
  now: number,
): Promise<boolean> {
  const difference = active.length - (owner.spec.replicas ?? 1)
  if (difference < 0) {
    const { template } = owner.spec
    if (template === undefined) return false
    const missing = Array.from({ length: Math.min(-difference, burst) }, () => podFromTemplate(template, owner))
    const { error } = await slowStart(missing, (draft) => createPod(context, owner, draft))
    if (error !== undefined && !isNamespaceTerminating(error)) throw error
    return error === undefined
  }
  if (difference > 0) {
    const count = Math.min(difference, burst)
    // When all pods are deleted, ranking them is unnecessary.
    const chosen =
      count === active.length ? active : rankForDeletion(active, await relatedPods(owner, context), now).slice(0, count)
    await inParallel(chosen, (pod) => deletePod(context, owner, pod))
    return true
  }
  return false
}

/** The pods of all replica sets with the same controller; of this one alone when it has no controller. */
async function relatedPods(owner: ReplicaOwner & TypeMeta, { client }: KeyContext): Promise<readonly Pod[]> {
  const { namespace = '' } = owner.metadata
  const parent = controllerOf(owner)
  const siblings: readonly ReplicaOwner[] =
    parent === undefined || owner.kind !== 'ReplicaSet'
      ? [owner]
      : await client.list(ReplicaSet, { namespace, controlledBy: { metadata: { uid: parent.uid } } })
  const lists = await Promise.all(siblings.map((one) => client.list(Pod, { namespace, controlledBy: one })))
  return lists.flat()
}
