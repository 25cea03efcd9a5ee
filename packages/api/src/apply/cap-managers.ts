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
  const updaters = [...fields].filter(([, { applied }]) => !applied).map(([identifier]) => identifier)
  if (updaters.length <= max) return
  updaters.sort((a, b) => secondsOf(times.get(a)) - secondsOf(times.get(b)) || compareUtf8(a, b))
  const firstOfVersion = new Map<string, string>()
  let left = updaters.length
  for (const manager of updaters) {
    if (left <= max) return
    const { set, apiVersion, applied } = fields.get(manager) as VersionedSet
    const first = firstOfVersion.get(apiVersion)
    // Merging needs two managers of the same version.
    if (first === undefined) {
      firstOfVersion.set(apiVersion, manager)
      continue
    }
    const bucket = managerIdentifier({ manager: bucketName, operation: 'Update', apiVersion })
    const collected = fields.get(bucket) ?? (fields.get(first) as VersionedSet)
    if (!fields.has(bucket)) fields.delete(first)
    fields.set(bucket, { set: set.union(collected.set), apiVersion, applied })
    if (manager !== bucket) fields.delete(manager)
    left--
    // `manager` is the more recent of the two.
    times.set(bucket, times.get(manager))
  }
}
