import {
  ApiError,
  isConflict,
  newConflict,
  newForbidden,
  newInvalid,
  newNotFound,
  newTooManyRequests,
  selectorFrom,
} from '@kubewright/api'
import { FieldPath, invalid } from '@kubewright/schema'
import { noAdmission } from '../../../../admission/admission.ts'
import type { DeleteOptions } from '../../../../registry/deletion.ts'
import type { ObjectAccess } from '../../../../registry/object-access.ts'
import type { MutableObject } from '../../../../resource/object.ts'
import type { Resource } from '../../../../resource/resource.ts'
import { type StoredObject, storedObject } from '../../../../resource/stored-object.ts'
import { Endpoint } from '../../../../verbs/endpoint.ts'
import { deleteObject } from '../../../../verbs/write/delete.ts'
import type { PostedObject } from '../../../subresources/post-subresource.ts'
import { setPodCondition } from '../pod-condition.ts'
import type { PodLike } from '../pod-types.ts'

type Parts = ObjectAccess

const budgetText = "Cannot evict pod as it would violate the pod's disruption budget."
const maxDisruptedPods = 2000

interface Budget {
  spec?:
    | { selector?: Parameters<typeof selectorFrom>[0] | undefined; unhealthyPodEvictionPolicy?: string | undefined }
    | undefined
  status?:
    | {
        observedGeneration?: number | undefined
        disruptionsAllowed?: number | undefined
        currentHealthy?: number | undefined
        desiredHealthy?: number | undefined
        disruptedPods?: Record<string, string> | undefined
        conditions?:
          | {
              type?: string | undefined
              status?: string | undefined
              reason?: string | undefined
              message?: string | undefined
              lastTransitionTime?: string | undefined
            }[]
          | undefined
      }
    | undefined
}

/** Deletes a pod unless a disruption budget forbids it (pod/storage/eviction.go). */
export async function evictPod(parts: Parts, posted: PostedObject): Promise<void> {
  const { context, resource, object, admit } = posted
  const { name, namespace } = context.info
  const { ignoreStoreReadErrorWithClusterBreakingPotential: ignored, ...given } = (object['deleteOptions'] ?? {}) as {
    ignoreStoreReadErrorWithClusterBreakingPotential?: boolean | undefined
  } & DeleteOptions
  if (ignored) {
    const at = FieldPath.of('deleteOptions', 'ignoreStoreReadErrorWithClusterBreakingPotential')
    const error = invalid(at, true, 'can not be set for pod eviction, try after removing the option')
    throw newInvalid({ group: 'policy', kind: 'Eviction' }, name, [error])
  }
  const options: DeleteOptions = { ...given, ...(posted.dryRun ? { dryRun: ['All'] } : {}) }
  const dryRun = (options.dryRun ?? []).length > 0
  await admit()
  const pod = await parts.registry.find(resource, namespace, name)
  if (!pod) throw newNotFound({ group: '', resource: 'pods' }, name)
  const passed = ignoresBudgets(pod.object as MutableObject)
    ? undefined
    : await spendBudget(parts, pod, namespace, name, dryRun)
  try {
    if (!dryRun) await markEvicted(parts, resource, namespace, name, options)
    const scope = { context, resource, namespace, subresource: '', strategy: resource.strategy, dryRun }
    await deleteObject({ registry: parts.registry, scope, name, options, admission: noAdmission })
  } catch (error) {
    // The pod may have become healthy meanwhile, so that the budget would protect it: clients shall retry.
    if (passed !== undefined && isConflict(error) && options.preconditions?.resourceVersion === undefined) {
      throw inProgress(passed)
    }
    throw error
  }
}

/** Whether a pod can be evicted regardless of budgets, because it is not running or already being deleted. */
function ignoresBudgets(pod: MutableObject): boolean {
  const phase = (pod['status'] as PodLike['status'])?.phase ?? ''
  return ['Succeeded', 'Failed', 'Pending'].includes(phase) || pod.metadata.deletionTimestamp !== undefined
}

/**
 * Decrements the allowed disruptions of the budget that selects the pod. Throws TooManyRequests if the budget allows none. Retries when
 * another write of the budget came first, so that concurrent evictions cannot overspend it. Resolves to the name of a budget that does
 * not protect the pod because it is unhealthy.
 */
async function spendBudget(
  parts: Parts,
  pod: StoredObject,
  namespace: string,
  name: string,
  dryRun: boolean,
): Promise<string | undefined> {
  const resource = parts.resources.find('policy', 'v1', 'poddisruptionbudgets')
  if (!resource) return undefined
  for (;;) {
    const { entries } = await parts.registry.store.list({ prefix: `${resource.storage.prefix}${namespace}/` })
    const labels = pod.object.metadata.labels
    const matching = entries
      .map(storedObject)
      .filter(({ problem }) => problem === undefined)
      .filter(({ object }) => selects(object as Budget, labels))
    if (matching.length === 0) return undefined
    if (matching.length > 1) {
      const message = 'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.'
      throw new ApiError({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, code: 500 })
    }
    const existing = matching[0]!
    const budget = existing.copy()
    const status = ((budget as Budget).status ??= {})
    if (!isReady(pod.object as MutableObject)) {
      if ((budget as Budget).spec?.unhealthyPodEvictionPolicy === 'AlwaysAllow') return budget.metadata.name
      const { currentHealthy = 0, desiredHealthy = 0 } = status
      if (currentHealthy >= desiredHealthy && desiredHealthy > 0) return budget.metadata.name
    }
    checkBudget(budget)
    if (dryRun) return undefined
    const now = parts.registry.timestamp()
    status.disruptionsAllowed = (status.disruptionsAllowed ?? 0) - 1
    status.disruptedPods = { ...status.disruptedPods, [name]: now }
    if (status.disruptionsAllowed === 0) forbidDisruptions(status, now)
    // kube-apiserver writes the status through a client of its own, which becomes a field manager.
    const { fields } = new Endpoint({ ...parts, admission: noAdmission, resource, subresource: 'status' })
    const tracked = await fields.update(existing.copy(), budget, { manager: 'kube-apiserver', now })
    delete tracked.metadata.resourceVersion
    if (await parts.registry.swap(existing, resource.codec.toClientForm(tracked))) return undefined
  }
}

/** Sets the condition DisruptionAllowed to False (component-helpers/apps/poddisruptionbudget). */
function forbidDisruptions(status: NonNullable<Budget['status']>, now: string): void {
  const { observedGeneration, conditions = [] } = status
  const before = conditions.find(({ type }) => type === 'DisruptionAllowed')
  const lastTransitionTime = before?.status === 'False' ? before.lastTransitionTime : now
  const next = {
    type: 'DisruptionAllowed',
    status: 'False',
    ...(observedGeneration ? { observedGeneration } : {}),
    lastTransitionTime: lastTransitionTime ?? now,
    reason: 'InsufficientPods',
    message: before?.message ?? '',
  }
  status.conditions = before ? conditions.map((each) => (each === before ? next : each)) : [...conditions, next]
}

function selects({ spec }: Budget, labels: Readonly<Record<string, string>> | undefined): boolean {
  try {
    return selectorFrom(spec?.selector).matches(labels)
  } catch {
    return false
  }
}

function isReady(pod: MutableObject): boolean {
  const conditions = (pod['status'] as PodLike['status'])?.conditions ?? []
  return conditions.some(({ type, status }) => type === 'Ready' && status === 'True')
}

function checkBudget(budget: MutableObject): void {
  const name = budget.metadata.name ?? ''
  const { observedGeneration = 0, disruptionsAllowed = 0, ...status } = (budget as Budget).status ?? {}
  if (observedGeneration < (budget.metadata.generation ?? 0)) {
    throw inProgress(name)
  }
  const forbid = (why: string): ApiError =>
    newForbidden({ group: 'policy', resource: 'poddisruptionbudget' }, name, why)
  if (disruptionsAllowed < 0) throw forbid('pdb disruptions allowed is negative')
  if (Object.keys(status.disruptedPods ?? {}).length > maxDisruptedPods) {
    throw forbid('DisruptedPods map too big - too many evictions not confirmed by PDB controller')
  }
  if (disruptionsAllowed > 0) return
  const { currentHealthy = 0, desiredHealthy = 0 } = status
  const condition = status.conditions?.find(({ type }) => type === 'DisruptionAllowed')
  const blocked = condition?.status === 'False' && condition.message ? condition : undefined
  const closed = `The disruption budget ${name} does not allow evicting pods currently`
  if (blocked?.reason === 'SyncFailed') throw rejection(0, `${closed} because it failed sync: ${blocked.message}`)
  if (currentHealthy <= desiredHealthy) {
    throw rejection(
      0,
      `The disruption budget ${name} needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`,
    )
  }
  throw rejection(0, blocked ? `${closed} (${blocked.reason}): ${blocked.message}` : closed)
}

const inProgress = (budget: string): ApiError =>
  rejection(10, `The disruption budget ${budget} is still being processed by the server.`)

function rejection(retryAfterSeconds: number, cause: string): ApiError {
  const { status } = newTooManyRequests(budgetText, retryAfterSeconds)
  // The type lists the reasons of validation errors only.
  const causes = [{ reason: 'DisruptionBudget' as never, message: cause }]
  return new ApiError({ ...status, details: { ...status.details, causes } })
}

/** Sets the condition DisruptionTarget, which states the reason for the deletion. */
async function markEvicted(
  { registry }: Parts,
  resource: Resource,
  namespace: string,
  name: string,
  { preconditions }: DeleteOptions,
): Promise<void> {
  for (;;) {
    const existing = await registry.find(resource, namespace, name)
    if (!existing) throw newNotFound({ group: '', resource: 'pods' }, name)
    const pod = existing.copy()
    const uid = pod.metadata.uid ?? ''
    if (preconditions?.uid && preconditions.uid !== uid) {
      const why = `the UID in the precondition (${preconditions.uid}) does not match the UID in record (${uid}). The object might have been deleted and then recreated`
      throw newConflict({ group: '', resource: 'Pod' }, name, why)
    }
    const status = (pod['status'] ??= {}) as NonNullable<PodLike['status']>
    setPodCondition(status, registry.timestamp(), {
      type: 'DisruptionTarget',
      status: 'True',
      reason: 'EvictionByEvictionAPI',
      message: 'Eviction API: evicting',
    })
    if (await registry.swap(existing, resource.codec.toClientForm(pod))) return
  }
}
