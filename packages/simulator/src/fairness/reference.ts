import type { KubeObject } from '@kubewright/api'
import { kindOf, objectId } from '../define/object-id.ts'
import type { OutsideIdentities } from '../world/outside-identities.ts'
import type { Run } from '../world/run-schedule.ts'
import type { Setup } from '../world/setup.ts'
import { type ComparableOptions, comparable, type Difference, differences } from './comparable-state.ts'
import { type GeneratedCounts, generatedOf, withSecondCounts } from './generated-children.ts'

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

/** The reference of a single run. It masks no noise: a difference counts only against a reference of two runs. */
export function referenceOf(run: Run): Reference {
  const { world, objects, problemsAtRest, writesAtRest, timesAtRest } = run
  const written = new Set(world.log.written.keys())
  return {
    written,
    objects,
    errorsAtRest: [...run.errorsAtRest, ...run.unresolved],
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
  const compared = comparing(setup, written)
  // Also fields of objects that the operator writes only in other runs, such as a pod that it deletes.
  const options = { ...compared, ids: new Set([...compared.ids, ...first.objects.map(objectId)]) }
  const noise = new Set<string>()
  const volatileKinds = new Set<string>()
  const expected = comparable(first.objects, options)
  for (const objects of [...second.earlier, second.objects]) {
    for (const { id, path } of differences(expected, comparable(objects, options))) {
      if (path !== '') noise.add(noiseKey(id, path))
      else if (compared.ids.has(id)) volatileKinds.add(kindOf(id))
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
  const options = comparing(setup, log.written.keys())
  return differences(comparable(before, options), comparable(after, options))
}

// A list with one volatile item may also differ in length.
const noiseKey = (id: string, path: string): string => `${kindOf(id)} ${path.replace(/\[.*/s, '')}`

/** What to compare of a run in which the operator has written some objects: those, and the subjects. */
export const comparing = (setup: Setup, written: Iterable<string>): ComparableOptions => ({
  ids: new Set([...written, ...setup.samples.subjects.map(({ id }) => id)]),
  statusOf: setup.operator.reportedKinds,
  ignore: setup.ignore,
})

/** Whether a field, or one that contains it, differs between runs without faults. */
export function isNoise({ noise }: Reference, { id, path }: Difference): boolean {
  const key = noiseKey(id, path)
  if (noise.has(key)) return true
  for (let end = key.lastIndexOf('.'); end > 0; end = key.lastIndexOf('.', end - 1)) {
    if (noise.has(key.slice(0, end))) return true
  }
  return false
}
