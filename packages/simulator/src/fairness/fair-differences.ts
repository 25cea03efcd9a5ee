import type { KubeObject } from '@kubewright/api'
import type { HorizontalPodAutoscaler } from '@kubewright/k8s'
import { dataKinds, isFinishedPod, kindOf, objectId, phaseOf } from '../define/object-id.ts'
import type { Run } from '../world/run-schedule.ts'
import type { Setup } from '../world/setup.ts'
import { comparable, type Difference, differences, timeMark } from './comparable-state.ts'
import { isOtherGeneration } from './generation-names.ts'
import { cannotGrow, type Growth, growthOf, isClaimTemplate, isMissedGrowth } from './grown-volumes.ts'
import { comparing, isNoise, type Reference } from './reference.ts'
import { refusedNameOf } from './refused-names.ts'

/** A run beside its reference. */
export interface Comparison {
  readonly run: Run
  readonly reference: Reference
  /** The objects that the operator wrote in the run or in its reference. */
  readonly written: ReadonlySet<string>
  /** Everything that differs, also what says nothing about the operator. */
  readonly differences: readonly Difference[]
  /** The differences that an autoscaler has made. */
  readonly autoscaled: ReadonlySet<Difference>
  /** Whether a user has changed the spec of an object. */
  readonly hasChanges: boolean
  /** The larger volumes for which a user has asked. */
  readonly growth: Growth | undefined
}

export function comparisonOf(setup: Setup, run: Run, reference: Reference): Comparison {
  const written = new Set([...reference.written, ...run.world.log.written.keys()])
  const options = comparing(setup, written)
  const found = differences(comparable(reference.objects, options), comparable(run.objects, options))
  return {
    run,
    reference,
    written,
    differences: found,
    autoscaled: autoscaled(found, [...reference.objects, ...run.objects]),
    hasChanges: run.world.schedule.operations.some((operation) => operation.do === 'change'),
    growth: growthOf(setup, run),
  }
}

/** Whether the operations of a run may leave another state than a new cluster with the same specs, whatever the operator does. */
export function hasNoExpectedEnd({ run, reference, hasChanges, growth }: Comparison): boolean {
  // Which of two objects gets an address, a port or a name that both request depends on the history, in every cluster.
  const isContended =
    run.contentionsAtRest > 0 || run.unresolved.some((error) => refusedNameOf(run, error) === 'chosen by the user')
  if (isContended && run.world.user.desired.size > 1) return true
  // A roll-out that cannot finish leaves the pods of a former spec in place.
  if (hasChanges && reference.objects.some(isPendingPod)) return true
  return growth !== undefined && cannotGrow(growth, run, reference)
}

/** A reason why a difference says nothing against the operator. */
export interface FairRule {
  readonly reason: string
  readonly covers: (difference: Difference, comparison: Comparison) => boolean
}

/** Every reason. A correct operator for each of them is in the tests of fairness. */
const fairRules: readonly FairRule[] = [
  {
    reason: 'an autoscaler without metrics never reduces a number that was higher for a while',
    covers: (difference, comparison) => comparison.autoscaled.has(difference),
  },
  {
    reason: 'many operators keep the volumes of a former spec',
    covers: (difference, comparison) =>
      comparison.hasChanges && dataKinds.has(kindOf(difference.id)) && !hasMissedGrowth(difference, comparison),
  },
  {
    reason: 'a StatefulSet keeps the claim of a replica that a user has added for a moment',
    covers: ({ id, path }, { run }) => path === '' && hasEdits(run) && isClaimOfOthers(id, run),
  },
  {
    reason: 'objects of this kind come and go without faults',
    covers: ({ id, path }, { reference }) => path === '' && reference.volatileKinds.has(kindOf(id)),
  },
  {
    reason: 'the field differs between runs without faults',
    covers: (difference, comparison) =>
      isNoise(comparison.reference, difference) && !hasMissedGrowth(difference, comparison),
  },
  {
    reason: 'the claims of a StatefulSet cannot change when volumes grow',
    covers: (difference, { growth }) => growth !== undefined && isClaimTemplate(difference),
  },
  {
    reason: 'the state outside the cluster has given another identity',
    covers: (difference, { run, reference }) =>
      reference.identities.isOther(difference.expected, difference.actual, run.world.processes.identities),
  },
  {
    reason: 'a pod whose work was done may have gone with its node',
    covers: ({ id, path, actual }, { reference }) =>
      path === '' &&
      actual === undefined &&
      reference.objects.some((one) => objectId(one) === id && isFinishedPod(one)),
  },
  {
    reason: 'the server keeps some old values of a spec that the user leaves out, such as the IP families of a Service',
    covers: ({ id, path }, { written }) => !written.has(id) && path !== '' && !/^(metadata|status)\b/.test(path),
  },
  {
    reason: 'the operator has released the child on purpose, for example with a policy to retain it',
    covers: ({ id, path }, { run }) => path === '' && run.world.log.written.get(id)?.isReleased === true,
  },
  {
    reason: 'the author wants the object to stay, or it is an empty collection that several objects have shared',
    covers: (difference, { run }) => mayRemain(difference, run),
  },
  {
    reason: 'the run has recorded the time of a change that its reference has not had',
    covers: (difference, { run, hasChanges }) => (hasChanges || hasInputs(run)) && isEvent(difference),
  },
  {
    reason: 'the name of a child contains the generation of its owner',
    covers: (difference, { run, reference }) => isOtherGeneration(difference, reference.objects, run.objects),
  },
  {
    reason: 'the status counts or lists the changes of its object',
    covers: (difference, { hasChanges }) => hasChanges && isChangeRecord(difference),
  },
]

/** The rule by which a difference says nothing against the operator; undefined if it counts. */
export const fairRuleFor = (difference: Difference, comparison: Comparison): FairRule | undefined =>
  fairRules.find(({ covers }) => covers(difference, comparison))

const hasMissedGrowth = (difference: Difference, { growth, run }: Comparison): boolean =>
  isMissedGrowth(growth, difference, run.world)

/** Whether a user changes a child of the operator in a run. */
export const hasEdits = ({ world }: Run): boolean =>
  world.setup.faults.have(world.schedule.faults, 'children are changed')

/** Whether a claim exists that the operator has not created. It may have deleted an earlier one of the same name. */
function isClaimOfOthers(id: string, { world, objects }: Run): boolean {
  const claim = objects.find((object) => object.kind === 'PersistentVolumeClaim' && objectId(object) === id)
  return claim !== undefined && world.log.written.get(id)?.last.metadata.uid !== claim.metadata.uid
}

const hasInputs = ({ world }: Run): boolean => world.schedule.operations.some((operation) => operation.do === 'input')

/** Whether an object is a pod that no node runs. */
export const isPendingPod = (object: KubeObject): boolean => object.kind === 'Pod' && phaseOf(object) === 'Pending'

/**
 * Whether an object may remain that a new cluster does not have: the author wants it to stay when its owner is deleted, or it is an
 * empty collection, which several objects have shared.
 */
function mayRemain({ id, path, expected }: Difference, { world, objects }: Run): boolean {
  if (path !== '' || expected !== undefined) return false
  const object = objects.find((one) => objectId(one) === id)
  // The garbage collector deletes what has an owner.
  if (object === undefined || (object.metadata.ownerReferences ?? []).length > 0) return false
  return world.user.hasRetained || isEmptyCollection(object)
}

const collections = new Set(['ConfigMap', 'Secret'])

function isEmptyCollection(object: KubeObject): boolean {
  const { data = {}, binaryData = {} } = object as { data?: object | undefined; binaryData?: object | undefined }
  return collections.has(object.kind) && Object.keys({ ...data, ...binaryData }).length === 0
}

/** Whether a run has recorded the time of a change that its reference has not had, such as that of a restart. */
function isEvent({ path, expected, actual }: Difference): boolean {
  return path !== '' && (expected === undefined || typeof expected === 'string') && isTime(actual) && !isTime(expected)
}

const changeCounter = /^status\.(?:.*\.)?(?:\w*revision|changes|rollouts|updates)$/i
const changeList = /^status\.(?:.*\.)?(?:\w*history|changes)(\[|$)/i

/** Whether a field of a status counts or lists changes, by its name. It must exist, and a name or hash must not differ. */
function isChangeRecord({ path, actual }: Difference): boolean {
  const [, inside] = changeList.exec(path) ?? []
  if (inside === '[') return true
  return typeof actual === 'number' ? changeCounter.test(path) : inside === '' && Array.isArray(actual)
}

/** Whether a value consists of texts with times. */
function isTime(value: unknown): boolean {
  if (typeof value === 'string') return value.includes(timeMark)
  if (typeof value !== 'object' || value === null) return false
  const parts = Object.values(value)
  return parts.length > 0 && parts.every(isTime)
}

/** The differences in numbers of replicas that an autoscaler has chosen, and in statuses that report them. */
function autoscaled(found: readonly Difference[], objects: readonly KubeObject[]): ReadonlySet<Difference> {
  const isAutoscaler = (object: KubeObject): object is HorizontalPodAutoscaler =>
    object.kind === 'HorizontalPodAutoscaler'
  const targets = new Set(
    objects.filter(isAutoscaler).map(({ metadata: { namespace }, spec }) => {
      return `${spec?.scaleTargetRef.kind} ${namespace}/${spec?.scaleTargetRef.name}`
    }),
  )
  const isScaled = ({ id, path }: Difference): boolean => path === 'spec.replicas' && targets.has(id)
  if (!found.some(isScaled)) return new Set()
  return new Set(found.filter((difference) => isScaled(difference) || isOtherNumber(difference)))
}

/** Whether two values of a status differ in a number only. */
function isOtherNumber({ path, expected, actual }: Difference): boolean {
  const textOf = (value: unknown): string => JSON.stringify(value ?? 0).replace(/\d+/g, '0')
  return path.startsWith('status.') && textOf(expected) === textOf(actual)
}
