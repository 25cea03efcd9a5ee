import type { Container, PodLike, PodSpec } from '../../builtins/core/pod/pod-types.ts'

/** A violation: a short reason, and the pod or containers that cause it. */
export interface Violation {
  readonly reason: string
  readonly detail: string
}

/** Checks a pod; returns undefined when it passes. */
export type CheckPod = (pod: CheckedPod) => Violation | undefined

/** A pod with its containers in the order of messages. */
export interface CheckedPod {
  readonly annotations: Readonly<Record<string, string>>
  readonly spec: PodSpec
  readonly containers: readonly Container[]
}

/** A rule of the Pod Security Standards. */
export interface SecurityCheck {
  readonly id: string
  readonly level: 'baseline' | 'restricted'
  /** The implementations by the first minor version that they apply to, ascending. */
  readonly versions: readonly (readonly [since: number, check: CheckPod])[]
  /** The baseline check that this check replaces at the restricted level. */
  readonly replaces?: string | undefined
}

/** A pod or pod template, prepared for checks. */
export function checkedPod({ metadata, spec = {} }: Pick<PodLike, 'metadata' | 'spec'>): CheckedPod {
  return {
    annotations: metadata?.annotations ?? {},
    spec,
    containers: [
      ...(spec.initContainers ?? []),
      ...(spec.containers ?? []),
      ...((spec.ephemeralContainers ?? []) as readonly Container[]),
    ],
  }
}

/** The names in quotes. */
export function quoted(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(', ')
}

/** The singular form for one, the plural form otherwise. */
export function plural(singular: string, several: string, count: number): string {
  return count === 1 ? singular : several
}

/** `container "a"`, or `containers "a", "b"`. */
export function containersText(containers: readonly Container[]): string {
  return `${plural('container', 'containers', containers.length)} ${quoted(containers.map(({ name }) => name ?? ''))}`
}

/** The pod and the containers that set a field. */
export function settersText(pod: boolean, containers: readonly Container[]): string {
  return [...(pod ? ['pod'] : []), ...(containers.length > 0 ? [containersText(containers)] : [])].join(' and ')
}

/** The distinct values, sorted. */
export function distinct(values: Iterable<string>): string[] {
  return [...new Set(values)].sort()
}
