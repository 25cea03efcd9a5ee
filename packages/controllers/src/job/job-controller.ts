import { controllerOf, findCondition, formatKey, isNotFound, parseKey, selectorFrom } from '@kubewright/api'
import { Job, type JobCondition, type JobStatus, Pod } from '@kubewright/k8s'
import {
  type ControllerParts,
  generationChanged,
  type KeyContext,
  type KeyController,
  type KeyOutcome,
  kindSource,
  not,
} from '@kubewright/runtime'
import { claimDependents } from '../workload/claims.ts'
import { defineBuiltinController } from '../workload/define-builtin-controller.ts'
import { delayed } from '../workload/delayed.ts'
import { createPod, deletePod, isNamespaceTerminating } from '../workload/pod-control.ts'
import { asError, inParallel, slowStart } from '../workload/slow-start.ts'
import { controlled } from '../workload/sources.ts'
import { writeStatus } from '../workload/write-status.ts'
import { isFinished } from './job-conditions.ts'
import { isTracked, jobNameLabel, jobPod, trackingFinalizer } from './job-pod.ts'
import { planJob, settleCounts } from './plan-job.ts'

const ownName = 'kubernetes.io/job-controller'

/**
 * Changes of pods wait for further ones, as in kube-controller-manager: pods that fail together count as one failure for the back-off,
 * and many pods need few writes of the status.
 */
const batchPeriod = '1s'

/** Runs pods until the number of completions that a job requires have succeeded. */
export const jobController: KeyController = /* @__PURE__ */ defineBuiltinController({
  name: 'job-controller',
  kind: Job,
  concurrency: 5,
  sources: [
    kindSource(Job, { predicates: [generationChanged] }),
    delayed(kindSource(Job, { name: 'Job (status)', predicates: [not(generationChanged)] }), batchPeriod),
    // Pods without their job still have its finalizer, which this controller must remove.
    delayed(
      controlled(Pod, Job, async (pod) => {
        const name = pod.metadata.labels?.[jobNameLabel]
        return name === undefined ? [] : [formatKey(name, pod.metadata.namespace)]
      }),
      batchPeriod,
    ),
  ],
  start: (parts) => (key, context) => reconcile(key, context, parts),
})

async function reconcile(
  key: string,
  context: KeyContext,
  { clock, cluster }: ControllerParts,
): Promise<KeyOutcome | undefined> {
  const { client } = context
  const { name, namespace = '' } = parseKey(key)
  const job = await client.find(Job, { namespace, name })
  if ((job?.spec.managedBy ?? ownName) !== ownName) return undefined
  await releaseStrays(context, namespace, name, job)
  if (job === undefined || isFinished(job)) return undefined

  const pods = await claimDependents(
    { client, api: cluster.api },
    {
      ownerKind: Job,
      owner: job,
      kind: Pod,
      selector: selectorFrom(job.spec.selector),
      releases: false,
      finalizers: [trackingFinalizer],
    },
  )
  const plan = planJob(job, pods, clock.now())

  let failure: Error | undefined
  let kept = 0
  try {
    await inParallel(plan.delete, async (pod) => {
      if (plan.dismisses && isTracked(pod)) await release(context, pod)
      await deletePod(context, job, pod)
    })
  } catch (error) {
    failure = asError(error)
    kept = plan.delete.length
  }
  const created = await slowStart(plan.create, ({ index, failures }) =>
    createPod(context, job, jobPod(job, index, failures)),
  )
  failure ??= created.error
  const active = (plan.status.active ?? 0) + kept - (plan.create.length - created.succeeded)
  const { active: _, ...rest } = plan.status
  const counted = await writeStatus(client, Job, job, active > 0 ? { ...rest, active } : rest)

  await inParallel(plan.release, (pod) => release(context, pod))
  const released = new Set(plan.release.map((pod) => pod.metadata.uid))
  const held = new Set(pods.filter(isTracked).flatMap(({ metadata: { uid } }) => (released.has(uid) ? [] : [uid])))
  const settled = settleCounts(job, (counted.status ?? {}) as JobStatus, held)
  const finish = failure === undefined ? finishNow(plan.finish, settled) : undefined
  await writeStatus(client, Job, counted, finish === undefined ? settled : finished(settled, finish))
  tell(context, job, settled, finish)
  if (failure !== undefined && !isNamespaceTerminating(failure)) throw failure
  return plan.requeueAfter === undefined ? undefined : { requeueAfter: plan.requeueAfter }
}

/** The finishing condition takes effect only when all pods are counted and none is still terminating. */
function finishNow(finish: JobCondition | undefined, status: JobStatus): JobCondition | undefined {
  const { failed = [], succeeded = [] } = status.uncountedTerminatedPods ?? {}
  const pending = failed.length + succeeded.length + (status.terminating ?? 0)
  return pending === 0 ? finish : undefined
}

function finished(status: JobStatus, finish: JobCondition): JobStatus {
  const time = finish.lastTransitionTime
  const completion = finish.type === 'Complete' && time !== undefined ? { completionTime: time } : {}
  return { ...status, ...completion, conditions: [...(status.conditions ?? []), finish] }
}

function tell({ events }: KeyContext, job: Job, status: JobStatus, finish: JobCondition | undefined): void {
  const was = findCondition(job.status?.conditions, 'Suspended')?.status
  const is = findCondition(status.conditions, 'Suspended')?.status
  if (is !== was && is !== undefined) {
    const reason = is === 'True' ? 'Suspended' : 'Resumed'
    events.record(job, { type: 'Normal', reason, message: `Job ${reason.toLowerCase()}` })
  }
  if (finish?.type === 'Complete') {
    if (job.spec.completions !== undefined && (status.succeeded ?? 0) > job.spec.completions) {
      const message = 'Too many succeeded pods running after completion count reached'
      events.record(job, { type: 'Warning', reason: 'TooManySucceededPods', message })
    }
    events.record(job, { type: 'Normal', reason: 'Completed', message: 'Job completed' })
  } else if (finish !== undefined) {
    const { reason = '', message = '' } = finish
    events.record(job, { type: 'Warning', reason, message })
  }
}

/** Removes the finalizer from pods whose job was deleted, or replaced by another job of the same name. */
async function releaseStrays(
  context: KeyContext,
  namespace: string,
  name: string,
  job: Job | undefined,
): Promise<void> {
  const named = await context.client.list(Pod, { namespace, labels: { [jobNameLabel]: name } })
  const strays = named.filter((pod) => {
    const owner = controllerOf(pod)
    if (!isTracked(pod) || (owner !== undefined && owner.kind !== 'Job')) return false
    if (job === undefined) return true
    // A pod without an owner may be adopted soon, unless the job is finished.
    return owner === undefined ? isFinished(job) : owner.uid !== job.metadata.uid || isFinished(job)
  })
  await inParallel(strays, (pod) => release(context, pod))
}

async function release({ client }: KeyContext, pod: Pod): Promise<void> {
  const { namespace = '', name, uid } = pod.metadata
  const patch = JSON.stringify({ metadata: { uid, '$deleteFromPrimitiveList/finalizers': [trackingFinalizer] } })
  try {
    await client.patch(Pod, { namespace, name }, patch, { type: 'strategic' })
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
}
