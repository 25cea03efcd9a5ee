import type { KubeObject } from '@kubewright/api'
import { dataKinds, objectId } from './cluster-state.ts'
import { checkDeletedClaims } from './deleted-claims.ts'
import { refusedNameOf } from './refused-names.ts'
import type { Run } from './run-schedule.ts'
import { checkSelectors } from './selector-oracle.ts'
import type { Setup } from './setup.ts'
import { checkEnvironment } from './stale-environment.ts'
import { checkStatus } from './status-oracle.ts'

const hotRequests = 3000

/** Checks a run by itself. These properties need no comparison. */
export function checkRun(setup: Setup, run: Run): void {
  const { world } = run
  checkOrphans(setup, run)
  checkSelectors(setup, run)
  checkEnvironment(run)
  checkStatus(setup, run)
  checkDeletedClaims(run)
  world.neighbors.check(run.objects)
  for (const [id, count] of run.writesAtRest) {
    if (count > setup.writesAtRest) {
      world.history.violate(
        'quiet',
        `The operator wrote ${id} ${count} times within ten minutes although nothing had changed`,
      )
    }
  }
  const [error] = run.errorsAtRest
  if (error !== undefined && isPlainRun(setup, run)) {
    world.history.violate('settles', `Reconciles of a sample keep failing without any fault: ${error}`)
  }
  const collision = isCreation(run)
    ? run.errorsAtRest.find((text) => refusedNameOf(run, text) === 'derived by the operator')
    : undefined
  if (collision !== undefined) {
    world.history.violate(
      'settles',
      `Two objects get a child of the same name, although their names differ: ${collision}`,
    )
  }
  if (run.busiestKey !== undefined) {
    world.history.violate('hot loop', `The operator reconciles ${run.busiestKey} all the time although nothing changes`)
  }
  if (run.requestsAtRest > hotRequests) {
    world.history.violate(
      'hot loop',
      `The operator sent ${run.requestsAtRest} requests within ten minutes although nothing had changed`,
    )
  }
  const exits = world.processes.exits.filter((time) => time > world.now - 25 * 60_000)
  if (exits.length > 3) {
    world.history.violate('crash loop', `The operator has ended ${exits.length} times by itself since the last fault`)
  } else if (
    !world.isOver &&
    world.processes.all.length > 0 &&
    world.processes.all.every(({ hasExited, isDead }) => hasExited || isDead)
  ) {
    world.history.violate('crash loop', 'No replica of the operator runs at the end')
  }
}

/** Whether a run only creates the given samples. The operator must be able to realize them. */
function isPlainRun(setup: Setup, { world }: Run): boolean {
  const { faults, operations } = world.schedule
  return (
    setup.hasGivenSamples &&
    faults.length === 0 &&
    operations.every((operation) => operation.do === 'create' && operation.variant === 0) &&
    new Set(operations.map(({ subject }) => setup.subjects[subject]?.sample)).size === operations.length
  )
}

/** Whether a run only creates objects, as the samples have them. */
const isCreation = ({ world: { schedule } }: Run): boolean =>
  schedule.faults.length === 0 &&
  schedule.operations.every(({ do: verb, variant }) => verb === 'create' && variant === 0)

/** The objects whose deletion has begun and does not finish. */
export function undeletedOf({ objects }: Run): readonly KubeObject[] {
  return objects.filter(({ kind, metadata }) => metadata.deletionTimestamp !== undefined && kind !== 'Pod')
}

/** Reports an object whose deletion does not finish. */
export function reportUndeleted({ world }: Run, object: KubeObject): void {
  const { finalizers = [] } = object.metadata
  world.history.violate('deletion', `The deletion of ${objectId(object)} does not finish`, [
    `its finalizers are ${finalizers.join(', ') || 'gone'}`,
  ])
}

/** After the deletion of an object, none of its children may remain. */
function checkOrphans(setup: Setup, { world, objects }: Run): void {
  const live = new Set([...setup.inputs, ...objects.map(({ metadata }) => metadata.uid)])
  for (const object of objects) {
    const id = objectId(object)
    if (!world.log.written.has(id) || dataKinds.has(object.kind)) continue
    const owners = object.metadata.ownerReferences ?? []
    if (owners.length > 0 && owners.every(({ uid }) => !live.has(uid))) {
      world.history.violate(
        'orphans',
        `${id} remains, but its owner is gone`,
        owners.map(({ kind, name }) => `${kind} ${name}`),
      )
    }
  }
}
