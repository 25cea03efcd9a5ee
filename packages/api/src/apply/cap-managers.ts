import { compareUtf8 } from '@kubewright/base'
import { type Managed, managerIdentifier, secondsOf, type VersionedSet } from './managed-fields.ts'

/** The number of updating managers that an object keeps before the oldest ones are merged. */
export const defaultMaxUpdateManagers = 10

const bucketName = 'ancient-changes'

/**
 * Merges the oldest updating managers, in place, into one `ancient-changes` manager per version until at most `max`
 * remain.
 */
export function capUpdateManagers({ fields, times }: Managed, max: number): void {
  const updaters = [...fields.keys()].filter((identifier) => !fields.get(identifier)!.applied)
  const excess = updaters.length - max
  if (excess <= 0) return
  updaters.sort((a, b) => secondsOf(times.get(a)) - secondsOf(times.get(b)) || compareUtf8(a, b))
  // Merging needs two managers of the same version, so the oldest of each version only receives others.
  const oldest = new Map<string, string>()
  const merging = updaters.filter((identifier) => {
    const { apiVersion } = fields.get(identifier) as VersionedSet
    if (oldest.has(apiVersion)) return true
    oldest.set(apiVersion, identifier)
    return false
  })
  for (const identifier of merging.slice(0, excess)) {
    const { set, apiVersion } = fields.get(identifier) as VersionedSet
    const bucket = managerIdentifier({ manager: bucketName, operation: 'Update', apiVersion })
    // Without a bucket, the oldest manager of the version becomes it.
    const receiver = fields.has(bucket) ? bucket : (oldest.get(apiVersion) as string)
    const merged = set.union((fields.get(receiver) as VersionedSet).set)
    fields.delete(receiver)
    fields.delete(identifier)
    fields.set(bucket, { set: merged, apiVersion, applied: false })
    // Of the two, the merged manager wrote last.
    times.set(bucket, times.get(identifier))
  }
}
