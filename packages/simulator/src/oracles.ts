import type { KubeObject } from '@kubewright/api'
import { comparable, type Difference, differences, differenceText, objectId, textsIn } from './cluster-state.ts'
import { checkDeletedClaims } from './deleted-claims.ts'
import { isEvent, mayRemain, withoutAutoscaling } from './fair-differences.ts'
import { hasOwnEnd } from './fault.ts'
import { type GeneratedCounts, generatedDifferences, generatedOf, withSecondCounts } from './generated-children.ts'
import { cannotGrow, growthOf, isClaimTemplate, isMissedGrowth } from './grown-volumes.ts'
import { isOtherIdentity, type OutsideIdentities } from './outside-identities.ts'
import type { Run } from './run-schedule.ts'
import { checkSelectors } from './selector-oracle.ts'
import type { Setup } from './setup.ts'
import { checkEnvironment } from './stale-environment.ts'
import { checkStatus } from './status-oracle.ts'
import type { Violation } from './violation.ts'

/**
 * The expected end of a run: that of runs without faults and with the same final specs. Holds facts of these runs and not
 * the runs, because a run keeps its whole cluster in memory and a simulation has many references.
 */
export interface Reference {
  /** The objects that the operator wrote in any of the runs. */
  readonly written: ReadonlySet<string>
  /** The objects of the first run. */
  readonly objects: readonly KubeObject[]
  /** The reconciles that fail at rest in any of the runs, or wait for their next attempt. */
  readonly errorsAtRest: readonly string[]
  readonly problemsAtRest: readonly string[]
  /** The highest number of effective writes at rest in any of the runs, by object. */
  readonly writesAtRest: ReadonlyMap<string, number>
  /** When the operator wrote at rest in the first run, by kind. */
  readonly timesAtRest: ReadonlyMap<string, readonly number[]>
  /** The identities that the state outside the cluster has returned in the first run. */
  readonly identities: OutsideIdentities
  /** Fields that differ between runs without faults, as `kind path`. */
  readonly noise: ReadonlySet<string>
  /** Kinds whose objects differ between runs without faults. */
  readonly volatileKinds: ReadonlySet<string>
  /** The number of objects with generated names, by prefix; undefined if it differs between runs without faults. */
  readonly generated: GeneratedCounts
}

// Retained on purpose by many operators when they shrink.
const dataKinds = new Set(['PersistentVolumeClaim', 'PersistentVolume'])
const hotRequests = 3000
const maxDetails = 12

const kindOf = (id: string): string => id.slice(0, id.indexOf(' '))

/** The reference of a single run. It masks no noise: a difference counts only against a reference of two runs. */
export function referenceOf({
  world,
  objects,
  errorsAtRest,
  unresolved,
  problemsAtRest,
  writesAtRest,
  timesAtRest,
}: Run): Reference {
  const written = new Set(world.log.written.keys())
  return {
    written,
    objects,
    errorsAtRest: [...errorsAtRest, ...unresolved],
    problemsAtRest,
    writesAtRest,
    timesAtRest,
    identities: world.processes.identities,
    noise: new Set(),
    volatileKinds: new Set(),
    generated: generatedOf(objects, written),
  }
}

/** Adds a second run, which differs in seed, start time, duration and resource versions: what differs between both is noise. */
export function withSecondRun(setup: Setup, first: Reference, second: Run): Reference {
  const written = new Set([...first.written, ...second.world.log.written.keys()])
  const compared = idsOf(setup, written)
  // Also fields of objects that the operator writes only in other runs, such as a pod that it deletes.
  const ids = new Set([...compared, ...first.objects.map(objectId)])
  const options = { ids, statusOf: statusKinds(setup), ignore: setup.ignore }
  const noise = new Set<string>()
  const volatileKinds = new Set<string>()
  const expected = comparable(first.objects, options)
  for (const objects of [second.earlier ?? second.objects, second.objects]) {
    for (const { id, path } of differences(expected, comparable(objects, options))) {
      if (path !== '') noise.add(noiseKey(id, path))
      else if (compared.has(id)) volatileKinds.add(kindOf(id))
    }
  }
  const writesAtRest = new Map(first.writesAtRest)
  for (const [id, count] of second.writesAtRest) writesAtRest.set(id, Math.max(count, writesAtRest.get(id) ?? 0))
  const errorsAtRest = [...first.errorsAtRest, ...second.errorsAtRest, ...second.unresolved]
  const generated = withSecondCounts(first.generated, generatedOf(second.objects, written))
  return { ...first, written, errorsAtRest, writesAtRest, noise, volatileKinds, generated }
}

/** What differs between two states of a run, in the objects that the operator writes. */
export function changesBetween(
  setup: Setup,
  { log }: Run['world'],
  before: readonly KubeObject[],
  after: readonly KubeObject[],
): Difference[] {
  const options = { ids: idsOf(setup, log.written.keys()), statusOf: statusKinds(setup), ignore: setup.ignore }
  return differences(comparable(before, options), comparable(after, options))
}

// A list with one volatile item may also differ in length.
const noiseKey = (id: string, path: string): string => `${kindOf(id)} ${path.replace(/\[.*/s, '')}`

/** The objects to compare: subjects, and everything that the operator has written. */
function idsOf(setup: Setup, written: Iterable<string>): Set<string> {
  const ids = new Set(written)
  for (const { kind, namespace, name } of setup.subjects) {
    ids.add(`${kind.kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`)
  }
  return ids
}

/** Custom kinds: the operator writes their status. */
function statusKinds(setup: Setup): Set<string> {
  const { kinds, controllers } = setup.operator
  return new Set(
    [...kinds, ...controllers.flatMap(({ kind }) => (kind === undefined ? [] : [kind]))].map(({ kind }) => kind),
  )
}

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

const refusedChild = /Cannot apply \S+ (\S+) as a child of (\S+) (\S+): it is controlled by (\S+) /

/**
 * Whose choice the name of a child was that another object of the same kind has, according to an error. Users are responsible for names
 * that they choose: then the spec has it, or a part of it.
 */
function refusedNameOf({ objects }: Run, error: string): 'derived by the operator' | 'chosen by the user' | undefined {
  const [, child = '', kind = '', owner = '', other = ''] = refusedChild.exec(error) ?? []
  const subject = objects.find((object) => objectId(object) === `${kind} ${owner}`) as { spec?: unknown } | undefined
  if (kind === '' || kind !== other || subject === undefined) return undefined
  const name = child.slice(child.indexOf('/') + 1)
  const isChosen = textsIn(subject.spec).some((text) => text.length > 2 && (name.includes(text) || text.includes(name)))
  return isChosen ? 'chosen by the user' : 'derived by the operator'
}

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

/** Compares a run with its reference. Returns what differs, and does not change the run. */
export function compareRun(setup: Setup, run: Run, reference: Reference): Violation[] {
  const { world } = run
  if (world.isOver && world.history.violations.length > 0) return []
  if (world.schedule.faults.some(hasOwnEnd)) return []
  // Which of two objects gets an address, a port or a name that both request depends on the history, in every cluster.
  const isContended =
    run.contentionsAtRest > 0 || run.unresolved.some((error) => refusedNameOf(run, error) === 'chosen by the user')
  if (isContended && world.user.desired.size > 1) return []
  const written = new Set([...reference.written, ...world.log.written.keys()])
  const ids = idsOf(setup, written)
  const options = { ids, statusOf: statusKinds(setup), ignore: setup.ignore }
  const hasChanges = world.schedule.operations.some((operation) => operation.do === 'change')
  const hasEvents = hasChanges || world.schedule.operations.some((operation) => operation.do === 'input')
  // A roll-out that cannot finish leaves the pods of a former spec in place.
  if (hasChanges && reference.objects.some(isPendingPod)) return []
  const growth = growthOf(setup, run)
  if (growth !== undefined && cannotGrow(growth, run, reference)) return []
  const finished = new Set(reference.objects.filter(isFinishedPod).map(objectId))
  const all = differences(comparable(reference.objects, options), comparable(run.objects, options))
  const found = withoutAutoscaling(all, [...reference.objects, ...run.objects])
    .filter((difference) => isRelevant(difference, reference, hasChanges) || isMissedGrowth(growth, difference, world))
    .filter((difference) => growth === undefined || !isClaimTemplate(difference))
    .filter((difference) => !isOtherIdentity(difference, reference.identities, world.processes.identities))
    // A pod whose work was done may have gone with its node.
    .filter(({ id, path, actual }) => path !== '' || actual !== undefined || !finished.has(id))
    .filter((difference) => written.has(difference.id) || isOfOperator(difference))
    // A child that the operator has released on purpose stays, for example with a policy to retain it.
    .filter(({ id, path }) => path !== '' || !world.log.written.get(id)?.isReleased)
    .filter((difference) => !mayRemain(difference, run))
    .filter((difference) => !hasEvents || !isEvent(difference))
    .concat(generatedDifferences(run, reference, generatedOf(run.objects, written)))
    // Whole objects first: they explain more than a field.
    .sort((a, b) => Number(a.path !== '') - Number(b.path !== ''))
  if (found.length > 0) {
    const failures = run.errorsAtRest.map((error) => `reconcile keeps failing: ${error}`)
    const hint = 'if the history is meant to matter, name the form in `isHeld`, or the field or kind in `ignore`'
    const hints = world.schedule.faults.length === 0 ? [hint] : []
    const details = [...found.slice(0, maxDetails).map(differenceText), ...failures.slice(0, 2), ...hints]
    return [{ oracle: 'end state', message: endStateMessage(world, found), details }]
  }
  const violations: Violation[] = []
  const violate = (oracle: string, message: string): void => void violations.push({ oracle, message, details: [] })
  const [problem] = run.problemsAtRest
  if (problem !== undefined && reference.problemsAtRest.length === 0) {
    violate('settles', `A controller does not work 15 minutes after the last fault: ${problem}`)
  }
  const [failing] = run.errorsAtRest
  if (failing !== undefined && reference.errorsAtRest.length === 0) {
    violate('settles', `Reconciles still fail 15 minutes after the last fault: ${failing}`)
  }
  for (const [id, count] of run.writesAtRest) {
    const expected = reference.writesAtRest.get(id) ?? 0
    if (count > 3 * expected + 5) {
      violate(
        'quiet',
        `The operator wrote ${id} ${count} times within ten minutes at rest, and ${expected} times without faults`,
      )
    }
  }
  return violations
}

// Work with a longer period may happen once in the time of an observation.
const periodicMillis = 3 * 60_000

/** The kinds that the operator writes again and again at rest without faults, and never in a run. */
export function silentKindsOf({ world, timesAtRest }: Run, expected: Reference['timesAtRest']): string[] {
  if (world.schedule.faults.some(hasOwnEnd)) return []
  return [...expected]
    .filter(([kind, times]) => !timesAtRest.has(kind) && times.at(-1)! - times[0]! >= periodicMillis)
    .map(([kind]) => kind)
}

function endStateMessage(world: Run['world'], found: readonly Difference[]): string {
  const [first] = found
  const cause = world.schedule.faults.length === 0 ? 'the history of the objects' : 'the fault'
  const more = found.length > 1 ? `, and ${found.length - 1} more difference${found.length > 2 ? 's' : ''}` : ''
  return `The end state depends on ${cause}: ${first === undefined ? '' : differenceText(first)}${more}`
}

/**
 * Whether a difference of an object that the operator has not written may be its doing. The server keeps some old values of
 * a spec that the user leaves out, such as the IP families of a Service.
 */
const isOfOperator = ({ path }: Difference): boolean => path === '' || /^(metadata|status)\b/.test(path)

/** Whether an object is a pod that no node runs. */
export const isPendingPod = (object: KubeObject): boolean =>
  object.kind === 'Pod' && (object as { status?: { phase?: string } }).status?.phase === 'Pending'

const isFinishedPod = (object: KubeObject): boolean =>
  object.kind === 'Pod' && /^(Succeeded|Failed)$/.test((object as { status?: { phase?: string } }).status?.phase ?? '')

function isRelevant({ id, path }: Difference, reference: Reference, hasChanges: boolean): boolean {
  const kind = kindOf(id)
  if (hasChanges && dataKinds.has(kind)) return false
  if (reference.volatileKinds.has(kind) && path === '') return false
  return !isNoise(id, path, reference.noise)
}

/** Whether a field, or one that contains it, differs between runs without faults. */
function isNoise(id: string, path: string, noise: ReadonlySet<string>): boolean {
  const key = noiseKey(id, path)
  if (noise.has(key)) return true
  for (let end = key.lastIndexOf('.'); end > 0; end = key.lastIndexOf('.', end - 1)) {
    if (noise.has(key.slice(0, end))) return true
  }
  return false
}
