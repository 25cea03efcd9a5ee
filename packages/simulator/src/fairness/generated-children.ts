import type { KubeObject } from '@kubewright/api'
import { objectId } from '../define/object-id.ts'
import type { Run } from '../world/run-schedule.ts'
import type { Difference } from './comparable-state.ts'

/** The number of objects with generated names, by prefix; undefined if it differs between runs without faults. */
export type GeneratedCounts = ReadonlyMap<string, number | undefined>

// A new one replaces one that has failed.
const replacedKinds = new Set(['Job', 'Pod'])

/** The number of objects that the operator has written, by the prefix of their generated name. */
export function generatedOf(objects: readonly KubeObject[], written: ReadonlySet<string>): Map<string, number> {
  const counts = new Map<string, number>()
  for (const object of objects) {
    const { generateName, namespace, deletionTimestamp } = object.metadata
    if (generateName === undefined || deletionTimestamp !== undefined || replacedKinds.has(object.kind)) continue
    if (!written.has(objectId(object))) continue
    const prefix = `${object.kind} ${namespace === undefined ? '' : `${namespace}/`}${generateName}*`
    counts.set(prefix, (counts.get(prefix) ?? 0) + 1)
  }
  return counts
}

/** The counts of two runs without faults. */
export function withSecondCounts(first: GeneratedCounts, second: GeneratedCounts): GeneratedCounts {
  const counts = new Map<string, number | undefined>()
  for (const prefix of new Set([...first.keys(), ...second.keys()])) {
    const count = first.get(prefix)
    counts.set(prefix, count === second.get(prefix) ? count : undefined)
  }
  return counts
}

/**
 * The differences in the number of objects with generated names. They have no name by which they could be compared. Those of former
 * specs may stay as a history, and the number of those that the operator creates at rest depends on the time.
 */
export function generatedDifferences(
  run: Run,
  reference: Pick<Run, 'timesAtRest'> & { readonly generated: GeneratedCounts },
  actual: GeneratedCounts,
): Difference[] {
  if (run.world.schedule.operations.some((operation) => operation.do === 'change')) return []
  const isPeriodic = (kind: string): boolean => run.timesAtRest.has(kind) || reference.timesAtRest.has(kind)
  return [...new Set([...reference.generated.keys(), ...actual.keys()])].flatMap((id): Difference[] => {
    const expected = reference.generated.has(id) ? reference.generated.get(id) : 0
    const found = actual.get(id) ?? 0
    if (expected === undefined || found === expected || isPeriodic(id.slice(0, id.indexOf(' ')))) return []
    return [{ id, path: 'number of objects', expected, actual: found }]
  })
}
