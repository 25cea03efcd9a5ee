import { nameIsDNSSubdomain } from '@kubewright/base'
import { type FieldError, type FieldPath, invalid } from '@kubewright/schema'
import type { MutableObject } from '../../../resource/object.ts'
import type { Strategy } from '../../../resource/strategy.ts'
import { checkNonNegative } from '../../checks/field-checks.ts'
import {
  checkImmutable,
  part,
  selectorValue,
  specPath,
  statusPath,
  type UncheckedSelector,
} from '../../checks/strategy-checks.ts'
import { templateWarnings } from '../../core/pod/template/pod-template-warnings.ts'
import { podNameWarnings } from './pod-workload.ts'

/** The strategy that all workloads of the group apps share. */
export const workloadStrategy: Strategy = {
  validateName: nameIsDNSSubdomain,
  metadataOnUpdate: ['update'],
  defaultPropagation: 'Background',
}

/** The strategy that Deployments and ReplicaSets share, given the checks of their spec. The selector is immutable. */
export function replicatedStrategy<S extends { readonly selector?: UncheckedSelector | undefined }>(
  validateSpec: (spec: S) => FieldError[],
): Strategy {
  return {
    ...workloadStrategy,
    validate: (object) => validateSpec(part<S>(object, 'spec')),
    validateUpdate: (object, old) => {
      const spec = part<S>(object, 'spec')
      const errors = validateSpec(spec)
      const before = part<S>(old, 'spec').selector
      checkImmutable(errors, specPath.child('selector'), spec.selector, before, selectorValue(spec.selector))
      return errors
    },
    warningsOnCreate: (object) => [...podNameWarnings(object), ...templateWarnings(object)],
    warningsOnUpdate: templateUpdateWarnings,
  }
}

/** Warnings about the pod template of a workload whose spec an update has changed. */
export function templateUpdateWarnings(object: MutableObject, old: MutableObject): string[] {
  return object.metadata.generation === old.metadata.generation ? [] : templateWarnings(object)
}

/** Adds the replica count to an object without fields: kube-apiserver's internal type stores it as a plain number. */
export function withReplicas(empty: MutableObject): MutableObject {
  return { ...empty, spec: { ...(empty['spec'] as object), replicas: 0 } }
}

/** The replica counts that most statuses of workloads have. */
interface ReplicaCounts {
  readonly replicas?: number | undefined
  readonly readyReplicas?: number | undefined
  readonly availableReplicas?: number | undefined
}

/** Which fields {@link checkReplicaCounts} checks, in this order. */
interface CountRules<F extends string> {
  /** Fields that must not be negative. */
  readonly counts: readonly F[]
  /** Fields that must not exceed `replicas`. */
  readonly subsets: readonly F[]
  /** How the error calls `readyReplicas`, which limits `availableReplicas`. @default 'readyReplicas' */
  readonly readyName?: string | undefined
}

/** Checks that the counts in a status are not negative and do not contradict each other. */
export function checkReplicaCounts<F extends string>(
  errors: FieldError[],
  status: ReplicaCounts & { readonly [K in F]?: number | undefined },
  { counts, subsets, readyName = 'readyReplicas' }: CountRules<F>,
): void {
  for (const field of counts) checkNonNegative(errors, statusPath.child(field), status[field])
  for (const field of subsets) {
    checkNotMore(errors, statusPath.child(field), status[field], status.replicas, 'status.replicas')
  }
  const { availableReplicas, readyReplicas } = status
  checkNotMore(errors, statusPath.child('availableReplicas'), availableReplicas, readyReplicas, readyName)
}

function checkNotMore(errors: FieldError[], path: FieldPath, count = 0, limit = 0, limitName: string): void {
  if (count > limit) errors.push(invalid(path, count, `cannot be greater than ${limitName}`))
}

/** Checks that the number of hash collisions does not decrease. */
export function checkCollisionCount(
  errors: FieldError[],
  { collisionCount: count }: { readonly collisionCount?: number | undefined },
  { collisionCount: before }: { readonly collisionCount?: number | undefined },
): void {
  if (before === undefined || (count !== undefined && count >= before)) return
  errors.push(invalid(statusPath.child('collisionCount'), count ?? 0, 'cannot be decremented'))
}
