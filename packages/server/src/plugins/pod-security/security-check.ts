import type { Container, PodLike, PodSpec } from '../../builtins/core/pod/pod-types.ts'

/** Why a pod is refused: a reason of a few words, and who did what. */
export interface Violation {
  readonly reason: string
  readonly detail: string
}

/** Looks at a pod; undefined when all is well. */
export type CheckPod = (pod: CheckedPod) => Violation | undefined

/** A pod with its containers in the order in which checks name them. */
export interface CheckedPod {
  readonly annotations: Readonly<Record<string, string>>
  readonly spec: PodSpec
  readonly containers: readonly Container[]
}

/** A rule of the Pod Security Standards. */
export interface SecurityCheck {
  readonly id: string
  readonly level: 'baseline' | 'restricted'
  /** By the minor version from which on each form is in force, ascending. */
  readonly versions: readonly (readonly [since: number, check: CheckPod])[]
  /** A check of the baseline that this one replaces at the restricted level. */
  readonly replaces?: string
}

/** A pod, or the template of one, ready for checks. */
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

/** The singular for one, the plural for all other numbers. */
export function plural(singular: string, several: string, count: number): string {
  return count === 1 ? singular : several
}

/** `container "a"`, or `containers "a", "b"`. */
export function containersText(containers: readonly Container[]): string {
  return `${plural('container', 'containers', containers.length)} ${quoted(containers.map(({ name }) => name ?? ''))}`
}

/** Those who set something: the pod, and containers. */
export function settersText(pod: boolean, containers: readonly Container[]): string {
  return [...(pod ? ['pod'] : []), ...(containers.length > 0 ? [containersText(containers)] : [])].join(' and ')
}

/** The values, each once, sorted. */
export function distinct(values: Iterable<string>): string[] {
  return [...new Set(values)].sort()
}
