import type { KubeObject } from '@kubewright/api'
import { conditionTexts, objectId } from '../define/object-id.ts'
import type { Run } from '../world/run-schedule.ts'
import type { Setup } from '../world/setup.ts'
import type { Difference } from './comparable-state.ts'
import type { Reference } from './reference.ts'

/** A run in which the user has asked for larger volumes. */
export interface Growth {
  /** The objects that ask for larger volumes. */
  readonly ids: ReadonlySet<string>
  /** Whether the operator may change claims. One that may only create them leaves their size to others. */
  readonly isMaintained: boolean
}

/** The growth of volumes in a run; undefined if no object asks for larger volumes. */
export function growthOf(setup: Setup, { world }: Run): Growth | undefined {
  const ids = new Set<string>()
  for (const [index, variant] of world.user.desired) {
    const subject = setup.samples.subjects[index]
    if (subject !== undefined && setup.samples.formOf(subject, variant).isGrowth) ids.add(subject.id)
  }
  return ids.size === 0 ? undefined : { ids, isMaintained: setup.operator.mayChangeClaims }
}

/**
 * Whether the operator does not support larger volumes: it gives up on the form, reports another condition than for a new object, or the
 * server refuses the change, as that of the claims in a StatefulSet.
 */
export function cannotGrow({ ids }: Growth, run: Run, { objects }: Reference): boolean {
  if (run.refusalsAtRest > 0 || run.isRefused) return true
  const expected = new Map(objects.map((object) => [objectId(object), conditionsText(object)]))
  return run.objects.some((object) => {
    const id = objectId(object)
    return ids.has(id) && expected.has(id) && expected.get(id) !== conditionsText(object)
  })
}

/** Whether a difference is a claim of the operator that has not grown. */
export const isMissedGrowth = (growth: Growth | undefined, { id, path }: Difference, { log }: Run['world']): boolean =>
  growth?.isMaintained === true &&
  id.startsWith('PersistentVolumeClaim ') &&
  path === 'spec.resources.requests.storage' &&
  log.written.has(id)

/** Whether a difference is in the claims of a StatefulSet, which cannot change. */
export const isClaimTemplate = ({ path }: Difference): boolean => path.startsWith('spec.volumeClaimTemplates')

const conditionsText = (object: KubeObject): string => conditionTexts(object).sort().join()
