import { fromTime, toTime } from '@kubewright/api'
import { type DeepReadonly, defineBudget, goSecondsToMillis } from '@kubewright/base'
import type { Job, JobCondition, JobStatus, Pod } from '@kubewright/k8s'
import { isPodActive, isPodReady, isPodTerminating } from '../workload/pod-state.ts'
import { rankForDeletion } from '../workload/rank-for-deletion.ts'
import { Indexes } from './indexes.ts'
import { jobCondition, trueCondition, withSuspended } from './job-conditions.ts'
import { failuresBefore, finishedAt, indexOf, isIndexed, isTracked } from './job-pod.ts'
import { judgeFailure, judgeSuccess } from './job-policies.ts'

/** A pod to create for a job. */
export interface JobPodOrder {
  readonly index?: number | undefined
  /** How often the index failed before, for jobs with `backoffLimitPerIndex`. */
  readonly failures?: number | undefined
}

/** The next actions for a job. */
export interface JobPlan {
  readonly create: readonly JobPodOrder[]
  readonly delete: readonly Pod[]
  /** Whether the finalizer of the pods in `delete` is removed first, so that they are not counted. */
  readonly dismisses: boolean
  /** Pods that the status of this plan counts. Their finalizer can be removed after the status is written. */
  readonly release: readonly Pod[]
  /** The status to write first. It already counts the results of `create` and `delete` as if they succeed. */
  readonly status: JobStatus
  /** The condition that finishes the job when all pods are counted and gone. */
  readonly finish: JobCondition | undefined
  readonly requeueAfter: number | undefined
}

// The back-off between a failure and the next attempt: 10 s, doubled with each consecutive failure.
const firstBackoff = 10_000
const longestBackoff = 10 * 60_000
const burst = defineBudget(500, {
  group: 'controllers',
  what: 'pods that a Job creates in one sync',
  answer: 'the next sync continues',
})
// The maximum number of pods that one plan counts, which keeps the lists of uncounted pods small. The next plan counts further ones.
const maxCounted = 500

/**
 * Plans the next actions for a job. Each pod is counted exactly once: its finalizer keeps it until the status includes
 * it.
 */
export function planJob(job: Job, pods: readonly Pod[], now: number): JobPlan {
  return new JobPlanner(job, pods, now).plan()
}

class JobPlanner {
  readonly #job: Job
  readonly #pods: readonly Pod[]
  readonly #now: number
  readonly #active: readonly Pod[]
  readonly #uncounted: { readonly succeeded: Set<string>; readonly failed: Set<string> }
  readonly #limit: number
  // Indexes that were complete before this plan, and including it.
  readonly #doneBefore: Indexes
  readonly #done: Indexes
  readonly #failedIndexes: Indexes | undefined
  readonly #byIndex = new Map<number | undefined, Pod[]>()

  constructor(job: Job, pods: readonly Pod[], now: number) {
    const { failed = [], succeeded = [] } = job.status?.uncountedTerminatedPods ?? {}
    this.#job = job
    this.#pods = pods
    this.#now = now
    this.#active = pods.filter(isPodActive)
    for (const pod of isIndexed(job) ? pods : []) {
      const index = indexOf(pod)
      const group = this.#byIndex.get(index)
      if (group === undefined) this.#byIndex.set(index, [pod])
      else group.push(pod)
    }
    this.#uncounted = { succeeded: new Set(succeeded), failed: new Set(failed) }
    this.#limit = isIndexed(job) ? (job.spec.completions ?? 0) : Number.POSITIVE_INFINITY
    this.#doneBefore = Indexes.parse(job.status?.completedIndexes, this.#limit)
    const done = pods.filter((pod) => pod.status?.phase === 'Succeeded' && isTracked(pod))
    this.#done = this.#doneBefore.with(this.#indexesOf(done))
    this.#failedIndexes = job.spec.backoffLimitPerIndex === undefined ? undefined : this.#findFailedIndexes()
  }

  plan(): JobPlan {
    const job = this.#job
    const suspended = job.spec.suspend === true
    const status = job.status ?? {}
    const startTime = status.startTime ?? (suspended ? undefined : toTime(this.#now))
    const target = this.#verdict(startTime)
    const before = status.conditions ?? []
    let conditions = before
    let create: readonly JobPodOrder[] = []
    let remove: readonly Pod[] = []
    let requeueAfter: number | undefined
    let ending = target
    if (target !== undefined) {
      remove = this.#active
    } else if (job.metadata.deletionTimestamp === undefined) {
      const managed = this.#manage(suspended)
      ;({ create, delete: remove, requeueAfter } = managed)
      const left = this.#active.length + create.length - remove.length
      const wanted = job.spec.completions
      const complete = wanted === undefined ? this.#succeeded() > 0 : this.#succeeded() >= wanted
      if (complete && left === 0) {
        const message = 'Reached expected number of succeeded pods'
        ending = jobCondition('SuccessCriteriaMet', 'CompletionsReached', message, this.#now)
      } else {
        conditions = withSuspended(conditions, suspended, this.#now)
      }
    }
    const { released, complete: counted } = this.#count(ending)
    const resumed = conditions !== before
    // The start time of a resumed job is reset.
    const started = resumed && !suspended ? toTime(this.#now) : startTime
    if (ending !== undefined && !conditions.some(({ type, status: is }) => type === ending.type && is === 'True')) {
      conditions = [...conditions, ending]
    }
    const deadline = this.#deadlineIn(started)
    return {
      create,
      delete: remove,
      dismisses: target === undefined,
      release: released,
      status: this.#status({ started, conditions, create, remove }),
      finish: ending && counted ? finishing(ending, this.#now) : undefined,
      requeueAfter: earliest(requeueAfter, ending === undefined ? deadline : undefined),
    }
  }

  #succeeded(): number {
    if (isIndexed(this.#job)) return this.#done.size
    const fresh = this.#pods.filter((pod) => pod.status?.phase === 'Succeeded' && this.#isNew(pod))
    return (this.#job.status?.succeeded ?? 0) + this.#uncounted.succeeded.size + fresh.length
  }

  #failed(): number {
    const fresh = this.#pods.filter((pod) => this.#isFailed(pod) && this.#isNew(pod) && this.#counts(pod))
    return (this.#job.status?.failed ?? 0) + this.#uncounted.failed.size + fresh.length
  }

  /** Whether a pod is in neither list: one that was counted as failed while it ran may still succeed. */
  #isNew(pod: Pod): boolean {
    if (isIndexed(this.#job) && indexOf(pod, this.#limit) === undefined) return false
    const { succeeded, failed } = this.#uncounted
    const { uid } = pod.metadata
    return isTracked(pod) && !succeeded.has(uid) && !failed.has(uid)
  }

  #counts(pod: Pod): boolean {
    return judgeFailure(this.#job.spec.podFailurePolicy, pod).action !== 'Ignore'
  }

  // A pod being deleted may never reach the phase Failed, so it counts as failed, unless the job waits for that phase.
  #isFailed(pod: Pod): boolean {
    if (pod.status?.phase === 'Failed') return true
    if (this.#job.spec.podReplacementPolicy === 'Failed') return false
    return pod.metadata.deletionTimestamp !== undefined && pod.status?.phase !== 'Succeeded'
  }

  /** The condition with which the job will finish, determined earlier or now; undefined while it continues. */
  #verdict(startTime: string | undefined): JobCondition | undefined {
    const job = this.#job
    const before = trueCondition(job, 'SuccessCriteriaMet') ?? trueCondition(job, 'FailureTarget')
    if (before !== undefined) return before as JobCondition
    const fail = (reason: string, message: string): JobCondition =>
      jobCondition('FailureTarget', reason, message, this.#now)
    for (const pod of this.#pods) {
      if (job.spec.podFailurePolicy === undefined || !this.#isFailed(pod)) continue
      const { message } = judgeFailure(job.spec.podFailurePolicy, pod)
      if (message !== undefined) return fail('PodFailurePolicy', message)
    }
    if (this.#failed() > (job.spec.backoffLimit ?? 6) || this.#restartedTooOften()) {
      return fail('BackoffLimitExceeded', 'Job has reached the specified backoff limit')
    }
    const deadline = this.#deadlineIn(startTime)
    if (deadline !== undefined && deadline <= 0) {
      return fail('DeadlineExceeded', 'Job was active longer than specified deadline')
    }
    if (!isIndexed(job)) return undefined
    const failed = this.#failedIndexes?.size ?? 0
    if (job.spec.maxFailedIndexes !== undefined && failed > job.spec.maxFailedIndexes) {
      const message = 'Job has exceeded the specified maximal number of failed indexes'
      return fail('MaxFailedIndexesExceeded', message)
    }
    if (failed > 0 && failed + this.#done.size >= this.#limit) return fail('FailedIndexes', 'Job has failed indexes')
    const success = judgeSuccess(job, this.#done)
    if (success === undefined) return undefined
    return jobCondition('SuccessCriteriaMet', 'SuccessPolicy', success, this.#now)
  }

  #restartedTooOften(): boolean {
    const { backoffLimit = 6, template } = this.#job.spec
    if (template.spec?.restartPolicy !== 'OnFailure') return false
    let restarts = 0
    for (const { status } of this.#pods) {
      if (status?.phase !== 'Running' && status?.phase !== 'Pending') continue
      for (const container of [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])]) {
        restarts += container.restartCount
      }
    }
    return backoffLimit === 0 ? restarts > 0 : restarts >= backoffLimit
  }

  #deadlineIn(startTime: string | undefined): number | undefined {
    const { activeDeadlineSeconds, suspend } = this.#job.spec
    if (activeDeadlineSeconds === undefined || startTime === undefined || suspend === true) return undefined
    return fromTime(startTime) + goSecondsToMillis(activeDeadlineSeconds) - this.#now
  }

  #findFailedIndexes(): Indexes {
    const limit = this.#job.spec.backoffLimitPerIndex ?? 0
    const before = Indexes.parse(this.#job.status?.failedIndexes, this.#limit)
    const failed = this.#pods.filter((pod) => {
      // Pods that a suspension deletes lose their finalizer first, so that they do not count.
      if (indexOf(pod, this.#limit) === undefined || !isTracked(pod) || !this.#isFailed(pod)) return false
      const { action } = judgeFailure(this.#job.spec.podFailurePolicy, pod)
      return action === 'FailIndex' || failuresBefore(pod) >= limit
    })
    return before.with(this.#indexesOf(failed))
  }

  /** The completion indexes of pods, without those that have none. */
  #indexesOf(pods: readonly Pod[]): Indexes {
    return Indexes.of(pods.flatMap((pod) => indexOf(pod, this.#limit) ?? []))
  }

  #manage(suspended: boolean): Pick<JobPlan, 'create' | 'delete' | 'requeueAfter'> {
    const { completions, parallelism = 1, podReplacementPolicy } = this.#job.spec
    const none = { create: [], delete: [], requeueAfter: undefined }
    if (suspended) return { ...none, delete: this.#active }
    const succeeded = this.#succeeded()
    const active = this.#active.length
    const open = completions === undefined ? (succeeded > 0 ? active : parallelism) : completions - succeeded
    const wanted = Math.max(0, Math.min(open, completions === undefined ? open : parallelism))
    const remove = this.#surplus(active - wanted)
    if (remove.length > 0) return { ...none, delete: remove.slice(0, burst) }
    const going = podReplacementPolicy === 'Failed' ? this.#pods.filter(isPodTerminating).length : 0
    const missing = Math.min(wanted - going - active, burst)
    if (missing <= 0) return none
    if (this.#failedIndexes !== undefined) return this.#perIndex(missing)
    const wait = this.#backoff(this.#pods)
    if (wait > 0) return { ...none, requeueAfter: wait }
    if (!isIndexed(this.#job)) return { ...none, create: Array.from({ length: missing }, () => ({})) }
    const create: JobPodOrder[] = []
    for (const index of this.#openIndexes()) {
      if (create.push({ index }) === missing) break
    }
    return { ...none, create }
  }

  /** Creation with limits per index: each index has its own back-off. */
  #perIndex(missing: number): Pick<JobPlan, 'create' | 'delete' | 'requeueAfter'> {
    const create: JobPodOrder[] = []
    let requeueAfter: number | undefined
    for (const index of this.#openIndexes()) {
      if (create.length === missing) break
      const failed = (this.#byIndex.get(index) ?? []).filter((pod) => this.#isFailed(pod))
      const wait = this.#backoff(failed)
      if (wait > 0) requeueAfter = earliest(requeueAfter, wait)
      else create.push({ index, failures: failed.reduce((most, pod) => Math.max(most, failuresBefore(pod) + 1), 0) })
    }
    return { create, delete: [], requeueAfter }
  }

  /** The indexes without a pod that are neither done nor failed, in order. */
  #openIndexes(): Iterable<number> {
    const busy = this.#job.spec.podReplacementPolicy === 'Failed' ? this.#pods.filter(isPodTerminating) : []
    const taken = this.#indexesOf([...this.#active, ...busy])
    return this.#done.with(taken, ...(this.#failedIndexes ? [this.#failedIndexes] : [])).missing(this.#limit)
  }

  /** The surplus pods: those without a valid index or with a duplicate one, then as many as needed. */
  #surplus(atLeast: number): readonly Pod[] {
    const ranked = rankForDeletion(this.#active, [], this.#now)
    if (!isIndexed(this.#job)) return ranked.slice(0, Math.max(0, atLeast))
    const kept = new Set<number>()
    const [extra, left]: [Pod[], Pod[]] = [[], []]
    // Of several pods with one index, keep the one that ranks last for deletion.
    for (const pod of ranked.reverse()) {
      const index = indexOf(pod, this.#limit)
      const surplus = index === undefined || kept.has(index) || this.#done.has(index)
      if (surplus) extra.push(pod)
      else {
        kept.add(index)
        left.push(pod)
      }
    }
    return [...extra, ...left.reverse().slice(0, Math.max(0, atLeast - extra.length))]
  }

  #backoff(pods: readonly Pod[]): number {
    const succeeded = pods.filter((pod) => pod.status?.phase === 'Succeeded').map(finishedAt)
    const lastSuccess = succeeded.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY)
    const failures = pods.filter((pod) => this.#isFailed(pod) && this.#counts(pod)).map(finishedAt)
    const since = failures.filter((time) => time > lastSuccess)
    if (since.length === 0) return 0
    const wait = Math.min(firstBackoff * 2 ** (since.length - 1), longestBackoff)
    return Math.max(0, since.reduce((a, b) => Math.max(a, b)) + wait - this.#now)
  }

  /** Records the finished pods, and returns those whose finalizer can be removed, and whether these are all. */
  #count(ending: JobCondition | undefined): { readonly released: readonly Pod[]; readonly complete: boolean } {
    const over = ending !== undefined || this.#job.metadata.deletionTimestamp !== undefined
    const released: Pod[] = []
    for (const pod of this.#pods) {
      if (released.length === maxCounted) return { released, complete: false }
      const failed = this.#isFailed(pod)
      const succeeded = pod.status?.phase === 'Succeeded'
      if (!isTracked(pod) || !(over || succeeded || (failed && !this.#isAwaited(pod)))) continue
      released.push(pod)
      const { uid } = pod.metadata
      if (succeeded) {
        if (!isIndexed(this.#job) && this.#isNew(pod)) this.#uncounted.succeeded.add(uid)
      } else if (failed || (ending !== undefined && ending.type !== 'SuccessCriteriaMet')) {
        // When the job fails, every pod that is still running counts as failed.
        if (this.#isNew(pod) && this.#counts(pod)) this.#uncounted.failed.add(uid)
      }
    }
    return { released, complete: true }
  }

  // The next pod of an index reads the failure count from the last failed pod, which must be kept until the next pod
  // exists.
  #isAwaited(pod: Pod): boolean {
    const index = indexOf(pod, this.#limit)
    if (this.#failedIndexes === undefined || index === undefined) return false
    if (this.#failedIndexes.has(index) || this.#done.has(index)) return false
    return !this.#byIndex.get(index)?.some((one) => failuresBefore(one) > failuresBefore(pod))
  }

  #status(parts: {
    readonly started: string | undefined
    readonly conditions: readonly DeepReadonly<JobCondition>[]
    readonly create: readonly JobPodOrder[]
    readonly remove: readonly Pod[]
  }): JobStatus {
    const { create, remove, started } = parts
    const { failed = 0, succeeded = 0 } = this.#job.status ?? {}
    const done = isIndexed(this.#job) ? this.#done.toString() : ''
    const active = this.#active.length + create.length - remove.length
    const total = isIndexed(this.#job) ? this.#done.size : succeeded
    const removed = new Set(remove)
    const [newlyDone, newlyFailed] = [[...this.#uncounted.succeeded], [...this.#uncounted.failed]]
    return {
      ...(parts.conditions.length > 0 ? { conditions: [...parts.conditions] as JobCondition[] } : {}),
      ...(started === undefined ? {} : { startTime: started }),
      ...(active > 0 ? { active } : {}),
      ...(total > 0 ? { succeeded: total } : {}),
      ...(failed > 0 ? { failed } : {}),
      ...(done === '' ? {} : { completedIndexes: done }),
      ...(this.#failedIndexes === undefined ? {} : { failedIndexes: this.#failedIndexes.toString() }),
      terminating: this.#pods.filter(isPodTerminating).length + remove.length,
      ready: this.#active.filter((pod) => isPodReady(pod) && !removed.has(pod)).length,
      uncountedTerminatedPods: {
        ...(newlyDone.length > 0 ? { succeeded: newlyDone } : {}),
        ...(newlyFailed.length > 0 ? { failed: newlyFailed } : {}),
      },
    }
  }
}

const finishing = (target: JobCondition, now: number): JobCondition =>
  jobCondition(target.type === 'FailureTarget' ? 'Failed' : 'Complete', target.reason ?? '', target.message ?? '', now)

const earliest = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined ? b : b === undefined ? a : Math.min(a, b)

/**
 * The status after finalizers were removed: pods without the finalizer move from the uncounted lists into the counts.
 */
export function settleCounts(job: Job, status: JobStatus, held: ReadonlySet<string>): JobStatus {
  const { succeeded = [], failed = [] } = status.uncountedTerminatedPods ?? {}
  const [stillDone, stillFailed] = [succeeded.filter((uid) => held.has(uid)), failed.filter((uid) => held.has(uid))]
  const newlyDone = isIndexed(job) ? 0 : succeeded.length - stillDone.length
  const newlyFailed = failed.length - stillFailed.length
  return {
    ...status,
    ...(newlyDone > 0 ? { succeeded: (status.succeeded ?? 0) + newlyDone } : {}),
    ...(newlyFailed > 0 ? { failed: (status.failed ?? 0) + newlyFailed } : {}),
    uncountedTerminatedPods: {
      ...(stillDone.length > 0 ? { succeeded: stillDone } : {}),
      ...(stillFailed.length > 0 ? { failed: stillFailed } : {}),
    },
  }
}
