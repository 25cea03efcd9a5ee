import type { KubeObject } from '@kubewright/api'
import type { HorizontalPodAutoscaler } from '@kubewright/k8s'
import { type Difference, objectId, timeMark } from './cluster-state.ts'
import type { Run } from './run-schedule.ts'

/**
 * Whether an object may remain that a new cluster does not have: the author wants it to stay when its owner is deleted, or it is an
 * empty collection, which several objects have shared.
 */
export function mayRemain({ id, path, expected }: Difference, { world, objects }: Run): boolean {
  if (path !== '' || expected !== undefined) return false
  const object = objects.find((one) => objectId(one) === id)
  // The garbage collector deletes what has an owner.
  if (object === undefined || (object.metadata.ownerReferences ?? []).length > 0) return false
  return world.user.hasRetained || isEmptyCollection(object)
}

const collections = new Set(['ConfigMap', 'Secret'])

function isEmptyCollection(object: KubeObject): boolean {
  const { data = {}, binaryData = {} } = object as { data?: object; binaryData?: object }
  return collections.has(object.kind) && Object.keys({ ...data, ...binaryData }).length === 0
}

/** Whether a run has recorded the time of a change that its reference has not had, such as that of a restart. */
export function isEvent({ path, expected, actual }: Difference): boolean {
  return path !== '' && (expected === undefined || typeof expected === 'string') && isTime(actual) && !isTime(expected)
}

/** Whether a value consists of texts with times. */
function isTime(value: unknown): boolean {
  if (typeof value === 'string') return value.includes(timeMark)
  if (typeof value !== 'object' || value === null) return false
  const parts = Object.values(value)
  return parts.length > 0 && parts.every(isTime)
}

/**
 * The differences without those in the numbers of replicas that an autoscaler has chosen, and in statuses that report them: without
 * metrics it never reduces a number that was higher for a while.
 */
export function withoutAutoscaling(found: readonly Difference[], objects: readonly KubeObject[]): Difference[] {
  const isAutoscaler = (object: KubeObject): object is HorizontalPodAutoscaler =>
    object.kind === 'HorizontalPodAutoscaler'
  const targets = new Set(
    objects.filter(isAutoscaler).map(({ metadata: { namespace }, spec }) => {
      return `${spec?.scaleTargetRef.kind} ${namespace}/${spec?.scaleTargetRef.name}`
    }),
  )
  const isScaled = ({ id, path }: Difference): boolean => path === 'spec.replicas' && targets.has(id)
  if (!found.some(isScaled)) return [...found]
  return found.filter((difference) => !isScaled(difference) && !isOtherNumber(difference))
}

/** Whether two values of a status differ in a number only. */
function isOtherNumber({ path, expected, actual }: Difference): boolean {
  const textOf = (value: unknown): string => JSON.stringify(value ?? 0).replace(/\d+/g, '0')
  return path.startsWith('status.') && textOf(expected) === textOf(actual)
}
