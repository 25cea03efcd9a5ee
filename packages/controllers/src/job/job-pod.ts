import { annotationOf, fromTime, hasFinalizer, type Reads } from '@kubewright/api'
import type { Job, Pod, PodDraft } from '@kubewright/k8s'
import { knownTime } from '../workload/known-time.ts'
import { podFromTemplate } from '../workload/pod-from-template.ts'

/** The finalizer that keeps a pod of a job until it has been counted. */
export const trackingFinalizer = 'batch.kubernetes.io/job-tracking'
/** The label with the name of a pod's job. */
export const jobNameLabel = 'batch.kubernetes.io/job-name'
const indexKey = 'batch.kubernetes.io/job-completion-index'
const failureCountAnnotation = 'batch.kubernetes.io/job-index-failure-count'
const indexVariable = 'JOB_COMPLETION_INDEX'

// The maximum length of a generated name before its random suffix.
const maxPrefix = 58

/** Whether each pod of the job has a completion index. */
export const isIndexed = (job: Job): boolean => job.spec.completionMode === 'Indexed'

/** Whether the pod has not been counted yet: it still has the tracking finalizer. */
export const isTracked = (pod: Pod): boolean => hasFinalizer(pod, trackingFinalizer)

/** The completion index of a pod; undefined when it has none below the limit. */
export function indexOf(pod: Pod, limit: number = Number.POSITIVE_INFINITY): number | undefined {
  const text = annotationOf(pod, indexKey)
  return text !== undefined && /^[0-9]+$/.test(text) && Number(text) < limit ? Number(text) : undefined
}

/** How often earlier pods of the same index failed. */
export function failuresBefore(pod: Pod): number {
  const text = annotationOf(pod, failureCountAnnotation)
  return text !== undefined && /^[0-9]+$/.test(text) ? Number(text) : 0
}

/** A draft of a pod of a job, with a completion index if the job is indexed. */
export function jobPod(job: Job, index?: number, failures?: number): PodDraft & Reads<Pod> {
  const draft = podFromTemplate(job.spec.template, job)
  const { metadata, spec } = draft
  const finalizers = metadata.finalizers ?? []
  metadata.finalizers = finalizers.includes(trackingFinalizer) ? finalizers : [...finalizers, trackingFinalizer]
  if (index === undefined) return draft
  const suffix = `-${index}-`
  metadata.generateName = `${job.metadata.name.slice(0, maxPrefix - suffix.length)}${suffix}`
  metadata.annotations = { ...metadata.annotations, [indexKey]: String(index) }
  if (failures !== undefined) metadata.annotations[failureCountAnnotation] = String(failures)
  metadata.labels = { ...metadata.labels, [indexKey]: String(index) }
  spec.hostname = `${job.metadata.name}-${index}`
  const variable = { name: indexVariable, valueFrom: { fieldRef: { fieldPath: `metadata.labels['${indexKey}']` } } }
  for (const container of [...(spec.initContainers ?? []), ...spec.containers]) {
    if (container.env?.some(({ name }) => name === indexVariable)) continue
    container.env = [...(container.env ?? []), variable]
  }
  return draft
}

/** The time at which a pod finished, in epoch milliseconds, according to its status. */
export function finishedAt(pod: Pod): number {
  const times = (pod.status?.containerStatuses ?? []).map(({ state }) => state?.terminated?.finishedAt)
  const known = times.map(knownTime).filter((time) => time !== undefined)
  if (known.length > 0) return known.reduce((a, b) => Math.max(a, b))
  const unready = pod.status?.conditions?.find(({ type, status }) => type === 'Ready' && status === 'False')
  const unreadySince = knownTime(unready?.lastTransitionTime)
  if (unreadySince !== undefined) return unreadySince
  const { creationTimestamp, deletionGracePeriodSeconds = 0, deletionTimestamp } = pod.metadata
  if (deletionTimestamp !== undefined) return fromTime(deletionTimestamp) - deletionGracePeriodSeconds * 1000
  return fromTime(creationTimestamp)
}
