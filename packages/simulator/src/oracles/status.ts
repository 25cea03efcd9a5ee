import type { KubeObject } from '@kubewright/api'
import { conditionsOf, objectId, promises } from '../define/object-id.ts'
import type { Run } from '../world/run-schedule.ts'
import { defineOracle, type ReportViolation, type RunOracle } from './define-oracle.ts'

interface WithStatus extends KubeObject {
  readonly spec?: { readonly replicas?: number | undefined } | undefined
  readonly status?:
    | { readonly observedGeneration?: number | undefined; readonly readyReplicas?: number | undefined }
    | undefined
}

const workloads = new Set(['Deployment', 'StatefulSet', 'ReplicaSet'])

/** At rest, the status must describe the current spec and the real state of the children. */
export const status: RunOracle = defineOracle({
  name: 'status',
  property:
    '`observedGeneration` is current; `readyReplicas` is that of the child; an object that is `Ready` or `Available` has workloads with ready pods',
  needs: 'run',
  check({ world, objects, refusalsAtRest }, report) {
    // An operator cannot report on children that the server refuses. If it accepts them in the compared run, the end state differs.
    if (refusalsAtRest > 0) return
    for (const object of objects as readonly WithStatus[]) {
      if (!world.setup.samples.isSubjectKind(object.kind) || object.metadata.deletionTimestamp !== undefined) continue
      const id = objectId(object)
      // An operator that leaves an object alone does not report that it has seen it.
      const generation = isHeld(world, object) ? undefined : object.metadata.generation
      const seen = object.status?.observedGeneration
      if (seen !== undefined && generation !== undefined && seen !== generation) {
        report(`${id}: status.observedGeneration is ${seen} at rest, but the generation is ${generation}`)
      }
      for (const { type, observedGeneration } of conditionsOf(object)) {
        if (observedGeneration === undefined || generation === undefined) continue
        if (observedGeneration > generation || (promises.has(type) && observedGeneration < generation)) {
          report(
            `${id}: the condition ${type} has the observedGeneration ${observedGeneration} at rest, but the generation is ${generation}`,
          )
        }
      }
      checkWorkloads(object, workloadsOf(object, objects), report)
    }
  },
})

/** Whether the present form of an object stops the work of the operator. */
function isHeld({ setup: { samples }, user }: Run['world'], object: KubeObject): boolean {
  const index = samples.indexOf(object)
  // Negative keys are neighbors.
  const variant = index < 0 ? undefined : user.desired.get(index)
  return variant !== undefined && samples.isHeld(samples.subjects[index]!, variant)
}

function workloadsOf({ metadata }: WithStatus, objects: readonly KubeObject[]): readonly WithStatus[] {
  return objects.filter(
    (child) =>
      workloads.has(child.kind) &&
      child.metadata.ownerReferences?.some(({ uid, controller }) => controller && uid === metadata.uid),
  ) as readonly WithStatus[]
}

/** The number of ready replicas must be that of the only workload, and a ready object must have ready workloads. */
function checkWorkloads(object: WithStatus, children: readonly WithStatus[], report: ReportViolation): void {
  const [child] = children
  if (child === undefined) return
  const reported = object.status?.readyReplicas
  const readyOf = ({ status }: WithStatus): number => status?.readyReplicas ?? 0
  if (children.length === 1 && reported !== undefined && reported !== readyOf(child)) {
    report(
      `${objectId(object)}: status.readyReplicas is ${reported} at rest, but ${objectId(child)} has ${readyOf(child)} ready replicas`,
    )
  }
  const promise = conditionsOf(object).find(({ type, status }) => promises.has(type) && status === 'True')
  // An object may be available with some of its replicas.
  const down = children.find((one) => (one.spec?.replicas ?? 1) > 0 && readyOf(one) === 0)
  if (promise !== undefined && down !== undefined) {
    report(
      `${objectId(object)}: the condition ${promise.type} is True at rest, but ${objectId(down)} has no ready replicas`,
    )
  }
}
