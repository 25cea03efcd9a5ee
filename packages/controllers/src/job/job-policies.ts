import type { Job, Pod } from '@kubewright/k8s'
import { Indexes } from './indexes.ts'

/** The decision of a job's pod failure policy about a failed pod. */
export interface FailureVerdict {
  readonly action: 'Count' | 'FailIndex' | 'FailJob' | 'Ignore'
  /** The reason for failing the whole job, when the action is FailJob. */
  readonly message?: string | undefined
}

type Policy = NonNullable<Job['spec']['podFailurePolicy']>
type Rule = Policy['rules'][number]
type Statuses = NonNullable<Pod['status']>['containerStatuses']

/** Applies the first rule that matches the pod. Without a matching rule the failure counts. */
export function judgeFailure(policy: Policy | undefined, pod: Pod): FailureVerdict {
  const { namespace, name } = pod.metadata
  for (const [index, rule] of (policy?.rules ?? []).entries()) {
    const what = matched(rule, pod, `${namespace}/${name}`)
    if (what === undefined) continue
    if (rule.action !== 'FailJob') return { action: rule.action as FailureVerdict['action'] }
    return { action: 'FailJob', message: `${what} matching FailJob rule at index ${index}` }
  }
  return { action: 'Count' }
}

function matched(rule: Rule, pod: Pod, name: string): string | undefined {
  const { onExitCodes, onPodConditions } = rule
  if (onExitCodes) {
    const statuses: Statuses = [...(pod.status?.containerStatuses ?? []), ...(pod.status?.initContainerStatuses ?? [])]
    for (const { name: container, state } of statuses) {
      const code = state?.terminated?.exitCode ?? 0
      if (code === 0 || (onExitCodes.containerName && onExitCodes.containerName !== container)) continue
      if (onExitCodes.values.includes(code) !== (onExitCodes.operator === 'In')) continue
      return `Container ${container} for pod ${name} failed with exit code ${code}`
    }
    return undefined
  }
  for (const { type, status } of pod.status?.conditions ?? []) {
    if (onPodConditions?.some((one) => one.type === type && (one.status ?? 'True') === status)) {
      return `Pod ${name} has condition ${type}`
    }
  }
  return undefined
}

/** The reason why an indexed job succeeds before all its indexes are complete; undefined when it does not. */
export function judgeSuccess(job: Job, succeeded: Indexes): string | undefined {
  if (succeeded.size === 0) return undefined
  for (const [index, rule] of (job.spec.successPolicy?.rules ?? []).entries()) {
    const { succeededCount, succeededIndexes } = rule
    const required =
      succeededIndexes === undefined ? undefined : Indexes.parse(succeededIndexes, job.spec.completions ?? 0)
    if (required?.size === 0) continue
    const done = required === undefined ? succeeded.size : required.sizeWithin(succeeded)
    const needed = succeededCount ?? required?.size
    if (needed !== undefined && done >= needed) return `Matched rules at index ${index}`
  }
  return undefined
}
