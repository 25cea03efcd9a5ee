import { controllerOf, formatKey, isAlreadyExists, isNotFound, keyOf, parseKey, selectorFrom } from '@kubewright/api'
import { deepEqual, errorText } from '@kubewright/base'
import { Deployment, type DeploymentCondition, type DeploymentStatus, Pod, ReplicaSet } from '@kubewright/k8s'
import {
  type ControllerParts,
  type KeyContext,
  type KeyController,
  type KeyOutcome,
  kindSource,
} from '@kubewright/runtime'
import { claimDependents } from '../workload/claims.ts'
import { defineBuiltinController } from '../workload/define-builtin-controller.ts'
import { joinedSource } from '../workload/joined-source.ts'
import { isNamespaceTerminating } from '../workload/pod-control.ts'
import { isPodTerminal } from '../workload/pod-state.ts'
import { controlled, selectedBy } from '../workload/sources.ts'
import {
  deploymentCondition,
  deploymentStatus,
  hasDeadline,
  isComplete,
  nextProgressCheck,
  pauseCondition,
  withCondition,
} from './deployment-status.ts'
import { findNewSet, newReplicaSet, sameTemplate } from './new-replica-set.ts'
import {
  isScalingEvent,
  planHistory,
  planProportional,
  planRecreate,
  planRolling,
  type ScaleStep,
} from './plan-rollout.ts'
import { maxRevision, newSetAnnotations, replicasAnnotations, revisionAnnotation } from './revisions.ts'
import { isRolling, wantedOf } from './rollout-limits.ts'

/** Pod events, mapped to the deployment of the pod if its strategy is Recreate. */
const podsOfRecreated = joinedSource(Pod, [ReplicaSet, Deployment], (cached) => ({
  name: 'Pod (of a Recreate deployment)',
  map: (pod) => {
    const { namespace } = pod.metadata
    const owner = controllerOf(pod)
    // An owner that the cache does not have yet is reconciled when it arrives.
    const set = owner?.kind === 'ReplicaSet' ? cached(ReplicaSet)?.get(formatKey(owner.name, namespace)) : undefined
    const parent = set && controllerOf(set)
    const deployment =
      parent?.kind === 'Deployment' ? cached(Deployment)?.get(formatKey(parent.name, namespace)) : undefined
    return deployment?.spec.strategy?.type === 'Recreate' ? [keyOf(deployment)] : []
  },
}))

/**
 * Rolls out deployments: creates one replica set per template, and moves the replicas from the old sets to the new one.
 */
export const deploymentController: KeyController = /* @__PURE__ */ defineBuiltinController({
  name: 'deployment-controller',
  kind: Deployment,
  concurrency: 5,
  sources: [
    kindSource(Deployment),
    controlled(
      ReplicaSet,
      Deployment,
      selectedBy(Deployment, ({ spec }) => selectorFrom(spec.selector)),
    ),
    // The strategy Recreate waits until the last old pod is gone.
    podsOfRecreated,
  ],
  start: (parts) => async (key, context) => {
    try {
      return await new Rollout(parts, context).reconcile(key)
    } catch (error) {
      // Nothing can be created in a namespace that is being deleted, and the deployment will be deleted too.
      if (isNamespaceTerminating(error)) return undefined
      throw error
    }
  },
})

/** One reconcile of a deployment. */
class Rollout {
  readonly #parts: ControllerParts
  readonly #context: KeyContext
  // The uid of the replica set that this reconcile created.
  #created: string | undefined

  constructor(parts: ControllerParts, context: KeyContext) {
    this.#parts = parts
    this.#context = context
  }

  async reconcile(key: string): Promise<KeyOutcome | undefined> {
    const { client } = this.#context
    const found = await client.find(Deployment, parseKey(key))
    if (found === undefined) return undefined
    const { selector } = found.spec
    if (Object.keys(selector.matchLabels ?? {}).length + (selector.matchExpressions?.length ?? 0) === 0) {
      const message = 'This deployment is selecting all pods. A non-empty selector is required.'
      this.#event(found, 'Warning', 'SelectingAll', message)
      const { generation } = found.metadata
      if ((found.status?.observedGeneration ?? 0) < generation) {
        await this.#write(found, { ...found.status, observedGeneration: generation } as DeploymentStatus)
      }
      return undefined
    }
    const sets = await this.#claimSets(found)
    if (found.metadata.deletionTimestamp !== undefined) {
      await this.#finish(found, sets, false)
      return undefined
    }
    const change = pauseCondition(found, this.#parts.clock.now())
    const deployment = change === undefined ? found : await this.#addCondition(found, change)
    return this.#progress(deployment, sets)
  }

  async #progress(deployment: Deployment, sets: readonly ReplicaSet[]): Promise<KeyOutcome | undefined> {
    const found = findNewSet(deployment, sets)
    const oldSets = sets.filter((set) => set.metadata.uid !== found?.metadata.uid)
    const newSet = found && (await this.#annotate(deployment, found, oldSets))
    const all = newSet === undefined ? oldSets : [...oldSets, newSet]
    const paused = deployment.spec.paused === true
    if (paused || isScalingEvent(deployment, all)) {
      const scaled = await this.#scale(deployment, planProportional(deployment, newSet, oldSets), all)
      const left = paused ? await this.#forget(deployment, newSet, oldSets, scaled) : scaled
      await this.#finish(deployment, left, false)
      return undefined
    }
    let known: readonly ReplicaSet[] = all
    if (isRolling(deployment)) {
      const target = newSet ?? (await this.#create(deployment, oldSets))
      if (newSet === undefined) known = [...oldSets, target]
      const steps = planRolling(deployment, target, oldSets)
      known = await this.#scale(deployment, steps, known)
      if (steps.length === 0) known = await this.#forgetIfComplete(deployment, target, oldSets, known)
    } else {
      const running = await this.#oldPodsRunning(deployment, newSet, oldSets)
      const { scale, mayStart } = planRecreate(deployment, newSet, oldSets, running)
      known = await this.#scale(deployment, scale, known)
      const target = mayStart && newSet === undefined ? await this.#create(deployment, oldSets) : newSet
      if (newSet === undefined && target !== undefined) known = [...oldSets, target]
      if (mayStart && target) known = await this.#forgetIfComplete(deployment, target, oldSets, known)
    }
    return this.#finish(deployment, known, true)
  }

  #claimSets(deployment: Deployment): Promise<readonly ReplicaSet[]> {
    const clients = { client: this.#context.client, api: this.#parts.cluster.api }
    const selector = selectorFrom(deployment.spec.selector)
    return claimDependents(clients, { ownerKind: Deployment, owner: deployment, kind: ReplicaSet, selector })
  }

  /** Updates the annotations and `minReadySeconds` of the new replica set. */
  async #annotate(deployment: Deployment, set: ReplicaSet, oldSets: readonly ReplicaSet[]): Promise<ReplicaSet> {
    const annotations = newSetAnnotations(deployment, set.metadata.annotations, maxRevision(oldSets) + 1n)
    const minReadySeconds = deployment.spec.minReadySeconds ?? 0
    const sameTime = (set.spec.minReadySeconds ?? 0) === minReadySeconds
    if (sameTime && deepEqual(annotations, set.metadata.annotations ?? {})) return set
    const metadata = { ...set.metadata, annotations }
    return this.#context.client.update({ ...set, metadata, spec: { ...set.spec, minReadySeconds } })
  }

  async #create(deployment: Deployment, oldSets: readonly ReplicaSet[]): Promise<ReplicaSet> {
    const { client } = this.#context
    const draft = newReplicaSet(deployment, oldSets)
    const { name } = draft.metadata
    try {
      const created = await client.create(draft)
      this.#created = created.metadata.uid
      const replicas = wantedOf(created)
      if (replicas > 0) {
        const message = `Scaled up replica set ${name} from 0 to ${replicas}`
        this.#event(deployment, 'Normal', 'ScalingReplicaSet', message)
      }
      return created
    } catch (error) {
      if (isAlreadyExists(error)) return await this.#resolveCollision(deployment, name, error)
      if (isNamespaceTerminating(error)) throw error
      const message = `Failed to create new replica set "${name}": ${errorText(error)}`
      if (hasDeadline(deployment)) {
        const now = this.#parts.clock.now()
        const failed = deploymentCondition('Progressing', 'False', 'ReplicaSetCreateError', message, now)
        // Report the create error even when the condition cannot be written.
        await this.#addCondition(deployment, failed).catch(() => undefined)
      }
      this.#event(deployment, 'Warning', 'ReplicaSetCreateError', message)
      throw error
    }
  }

  /**
   * Handles a taken name: it belongs to the new replica set itself, not yet in the cache, or to another template with
   * the same hash.
   */
  async #resolveCollision(deployment: Deployment, name: string, error: unknown): Promise<ReplicaSet> {
    const { namespace = '', uid } = deployment.metadata
    const existing = await this.#parts.cluster.api.get(ReplicaSet, { namespace, name })
    const template = existing.spec.template
    if (controllerOf(existing)?.uid === uid && sameTemplate(template, deployment.spec.template)) return existing
    const collisionCount = (deployment.status?.collisionCount ?? 0) + 1
    await this.#write(deployment, { ...deployment.status, collisionCount } as DeploymentStatus)
    throw error
  }

  /** Scales replica sets and resolves to all replica sets with their new state. */
  async #scale(
    deployment: Deployment,
    steps: readonly ScaleStep[],
    all: readonly ReplicaSet[],
  ): Promise<readonly ReplicaSet[]> {
    const changed = new Map<string, ReplicaSet>()
    for (const { set, replicas } of steps) {
      const annotations = { ...set.metadata.annotations, ...replicasAnnotations(deployment) }
      const before = wantedOf(set)
      if (before === replicas && deepEqual(annotations, set.metadata.annotations)) continue
      const metadata = { ...set.metadata, annotations }
      const written: ReplicaSet = await this.#context.client.update({
        ...set,
        metadata,
        spec: { ...set.spec, replicas },
      })
      changed.set(set.metadata.uid, written)
      if (before === replicas) continue
      const direction = before < replicas ? 'up' : 'down'
      const message = `Scaled ${direction} replica set ${set.metadata.name} from ${before} to ${replicas}`
      this.#event(deployment, 'Normal', 'ScalingReplicaSet', message)
    }
    return all.map((set) => changed.get(set.metadata.uid) ?? set)
  }

  async #forgetIfComplete(
    deployment: Deployment,
    newSet: ReplicaSet,
    oldSets: readonly ReplicaSet[],
    all: readonly ReplicaSet[],
  ): Promise<readonly ReplicaSet[]> {
    return isComplete(deployment, deployment.status) ? this.#forget(deployment, newSet, oldSets, all) : all
  }

  /** Deletes the old replica sets beyond the history limit. */
  async #forget(
    deployment: Deployment,
    newSet: ReplicaSet | undefined,
    oldSets: readonly ReplicaSet[],
    all: readonly ReplicaSet[],
  ): Promise<readonly ReplicaSet[]> {
    const gone = new Set<string>()
    for (const set of planHistory(deployment, oldSets)) {
      const { namespace = '', name, uid } = set.metadata
      if (uid === newSet?.metadata.uid) continue
      try {
        await this.#context.client.delete(ReplicaSet, { namespace, name }, { preconditions: { uid } })
      } catch (error) {
        if (!isNotFound(error)) throw error
      }
      gone.add(uid)
    }
    return all.filter((set) => !gone.has(set.metadata.uid))
  }

  async #oldPodsRunning(
    deployment: Deployment,
    newSet: ReplicaSet | undefined,
    oldSets: readonly ReplicaSet[],
  ): Promise<boolean> {
    const { namespace = '' } = deployment.metadata
    const old = new Set(oldSets.map((set) => set.metadata.uid))
    if (old.size === 0) return false
    const pods = await this.#context.client.list(Pod, { namespace, selector: deployment.spec.selector })
    return pods.some((pod) => {
      const uid = controllerOf(pod)?.uid ?? ''
      return old.has(uid) && uid !== newSet?.metadata.uid && !isPodTerminal(pod)
    })
  }

  /** Writes the status computed from the replica sets, and the revision of the new one. */
  async #finish(
    deployment: Deployment,
    sets: readonly ReplicaSet[],
    judgesProgress: boolean,
  ): Promise<KeyOutcome | undefined> {
    const now = this.#parts.clock.now()
    const newSet = findNewSet(deployment, sets)
    const oldSets = sets.filter((set) => set !== newSet)
    const basis = judgesProgress ? this.#withFirstCondition(deployment, newSet, now) : deployment
    const status = deploymentStatus(basis, { newSet, oldSets, judgesProgress, now })
    await this.#write(deployment, status, newSet?.metadata.annotations?.[revisionAnnotation])
    const next = judgesProgress ? nextProgressCheck(deployment, status, now) : undefined
    return next === undefined ? undefined : { requeueAfter: next }
  }

  async #addCondition(deployment: Deployment, condition: DeploymentCondition): Promise<Deployment> {
    const conditions = withCondition(deployment.status?.conditions ?? [], condition)
    return this.#write(deployment, { ...deployment.status, conditions } as DeploymentStatus)
  }

  /**
   * The status subresource of deployments accepts annotations too, so revision and status are written in one request.
   */
  async #write(deployment: Deployment, status: DeploymentStatus, revision?: string): Promise<Deployment> {
    const { annotations } = deployment.metadata
    const sameRevision = revision === undefined || annotations?.[revisionAnnotation] === revision
    if (sameRevision && deepEqual(deployment.status, status)) return deployment
    const metadata = sameRevision
      ? deployment.metadata
      : { ...deployment.metadata, annotations: { ...annotations, [revisionAnnotation]: revision } }
    return this.#context.client.subresource(Deployment, 'status').update({ ...deployment, metadata, status })
  }

  #event(deployment: Deployment, type: 'Normal' | 'Warning', reason: string, message: string): void {
    this.#context.events.record(deployment, { type, reason, message })
  }

  /** Adds the first condition of a roll-out: its replica set was created or found. */
  #withFirstCondition(deployment: Deployment, newSet: ReplicaSet | undefined, now: number): Deployment {
    const { conditions = [] } = deployment.status ?? {}
    if (!hasDeadline(deployment) || newSet === undefined) return deployment
    const isNew = newSet.metadata.uid === this.#created
    if (!isNew && conditions.some(({ type }) => type === 'Progressing')) return deployment
    const { name } = newSet.metadata
    const first = isNew
      ? deploymentCondition('Progressing', 'True', 'NewReplicaSetCreated', `Created new replica set "${name}"`, now)
      : deploymentCondition('Progressing', 'True', 'FoundNewReplicaSet', `Found new replica set "${name}"`, now)
    return { ...deployment, status: { ...deployment.status, conditions: withCondition(conditions, first) } }
  }
}
