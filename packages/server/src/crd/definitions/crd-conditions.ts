import { formatRFC3339, instantFromMillis } from '@kubewright/base'
import type { Crd, CrdCondition } from './crd.ts'

/** The types of conditions of a CRD. */
export type CrdConditionType = 'Established' | 'NamesAccepted' | 'Terminating' | 'KubernetesAPIApprovalPolicyConformant'

/** The condition of a type. */
export function findCrdCondition({ status }: Crd, type: CrdConditionType): CrdCondition | undefined {
  return status?.conditions?.find((condition) => condition.type === type)
}

/** Whether the condition exists and is true. */
export function isCrdCondition(crd: Crd, type: CrdConditionType): boolean {
  return findCrdCondition(crd, type)?.status === 'True'
}

/** Adds a condition or changes the existing one. lastTransitionTime changes only with the status. */
export function setCrdCondition(
  crd: Crd,
  condition: { type: CrdConditionType; status: string; reason: string; message: string },
  now: number,
): void {
  const lastTransitionTime = formatRFC3339(instantFromMillis(now))
  const existing = findCrdCondition(crd, condition.type)
  if (!existing) {
    crd.status.conditions = [...(crd.status.conditions ?? []), { ...condition, lastTransitionTime }]
    return
  }
  if (existing.status !== condition.status || !existing.lastTransitionTime) {
    existing.lastTransitionTime = lastTransitionTime
  }
  existing.status = condition.status
  existing.reason = condition.reason
  existing.message = condition.message
}

/** Whether two conditions are equal except for lastTransitionTime. */
export function sameCondition(a: Omit<CrdCondition, 'lastTransitionTime'>, b: CrdCondition | undefined): boolean {
  return b?.type === a.type && b.status === a.status && b.reason === a.reason && b.message === a.message
}
