import type { KubeObject } from '@kubewright/api'
import { objectId } from './cluster-state.ts'
import type { Run } from './run-schedule.ts'
import type { Setup } from './setup.ts'

interface WithStatus extends KubeObject {
  readonly spec?: { readonly replicas?: number }
  readonly status?: {
    readonly observedGeneration?: number
    readonly readyReplicas?: number
    readonly conditions?: readonly {
      readonly type: string
      readonly status: string
      readonly observedGeneration?: number
    }[]
  }
}

const workloads = new Set(['Deployment', 'StatefulSet', 'ReplicaSet'])
/** The conditions that promise that the object works. */
const promises = new Set(['Ready', 'Available'])

/** At rest, the status must describe the current spec and the real state of the children. */
export function checkStatus(setup: Setup, { world, objects, refusalsAtRest }: Run): void {
  const { history } = world
  // An operator cannot report on children that the server refuses. If it accepts them in the compared run, the end state differs.
  if (refusalsAtRest > 0) return
  for (const object of objects as readonly WithStatus[]) {
    if (!setup.isSubjectKind(object.kind) || object.metadata.deletionTimestamp !== undefined) continue
    const id = objectId(object)
    // An operator that leaves an object alone does not report that it has seen it.
    const generation = isHeld(setup, world, object) ? undefined : object.metadata.generation
    const seen = object.status?.observedGeneration
    if (seen !== undefined && generation !== undefined && seen !== generation) {
      history.violate(
        'status',
        `${id}: status.observedGeneration is ${seen} at rest, but the generation is ${generation}`,
      )
    }
    const conditions = Array.isArray(object.status?.conditions) ? object.status.conditions : []
    for (const { type, observedGeneration } of conditions) {
      if (observedGeneration === undefined || generation === undefined) continue
      if (observedGeneration > generation || (promises.has(type) && observedGeneration < generation)) {
        history.violate(
          'status',
          `${id}: the condition ${type} has the observedGeneration ${observedGeneration} at rest, but the generation is ${generation}`,
        )
      }
    }
    checkWorkloads(object, workloadsOf(object, objects), world)
  }
}

/** Whether the present form of an object stops the work of the operator. */
function isHeld(setup: Setup, { user }: Run['world'], { kind, metadata }: KubeObject): boolean {
  const index = setup.subjects.findIndex(
    (one) => one.kind.kind === kind && one.name === metadata.name && one.namespace === metadata.namespace,
  )
  // Negative keys are neighbors.
  const variant = index < 0 ? undefined : user.desired.get(index)
  return variant !== undefined && setup.isHeld(setup.subjects[index]!, variant)
}

function workloadsOf({ metadata }: WithStatus, objects: readonly KubeObject[]): readonly WithStatus[] {
  return objects.filter(
    (child) =>
      workloads.has(child.kind) &&
      child.metadata.ownerReferences?.some(({ uid, controller }) => controller && uid === metadata.uid),
  ) as readonly WithStatus[]
}

/** The number of ready replicas must be that of the only workload, and a ready object must have ready workloads. */
function checkWorkloads(object: WithStatus, children: readonly WithStatus[], { history }: Run['world']): void {
  const [child] = children
  if (child === undefined) return
  const reported = object.status?.readyReplicas
  const readyOf = ({ status }: WithStatus): number => status?.readyReplicas ?? 0
  if (children.length === 1 && reported !== undefined && reported !== readyOf(child)) {
    history.violate(
      'status',
      `${objectId(object)}: status.readyReplicas is ${reported} at rest, but ${objectId(child)} has ${readyOf(child)} ready replicas`,
    )
  }
  const conditions = Array.isArray(object.status?.conditions) ? object.status.conditions : []
  const promise = conditions.find(({ type, status }) => promises.has(type) && status === 'True')
  // An object may be available with some of its replicas.
  const down = children.find((one) => (one.spec?.replicas ?? 1) > 0 && readyOf(one) === 0)
  if (promise !== undefined && down !== undefined) {
    history.violate(
      'status',
      `${objectId(object)}: the condition ${promise.type} is True at rest, but ${objectId(down)} has no ready replicas`,
    )
  }
}
