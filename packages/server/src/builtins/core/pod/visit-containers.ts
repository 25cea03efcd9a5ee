import type { FieldPath } from '@kubewright/schema'
import type { Container, PodSpec } from './pod-types.ts'

/** Calls `visit` for each container of a pod: init, regular and ephemeral ones, in this order. */
export function visitContainers(
  spec: PodSpec,
  path: FieldPath,
  visit: (container: Container, path: FieldPath) => void,
): void {
  for (const list of ['initContainers', 'containers', 'ephemeralContainers'] as const) {
    // An ephemeral container is a container with an optional target.
    const containers = (spec[list] ?? []) as Container[]
    for (let i = 0; i < containers.length; i++) visit(containers[i]!, path.child(list).index(i))
  }
}
