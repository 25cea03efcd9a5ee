import { compareUtf8 } from '@kubewright/base'
import { FieldSet } from '../fieldset/field-set.ts'
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
  // The sets of each bucket are united at once: one by one, the work would grow with the square of their number.
  const buckets = new Map<string, { readonly apiVersion: string; readonly sets: FieldSet[] }>()
  for (const identifier of merging.slice(0, excess)) {
    const versioned = fields.get(identifier)
    // The bucket itself, which has already received others.
    if (versioned === undefined) continue
    const { set, apiVersion } = versioned
    const name = managerIdentifier({ manager: bucketName, operation: 'Update', apiVersion })
    let bucket = buckets.get(name)
    if (bucket === undefined) {
      // Without a bucket, the oldest manager of the version becomes it.
      const receiver = fields.has(name) ? name : (oldest.get(apiVersion) as string)
      bucket = { apiVersion, sets: [(fields.get(receiver) as VersionedSet).set] }
      buckets.set(name, bucket)
      fields.delete(receiver)
    }
    bucket.sets.push(set)
    fields.delete(identifier)
    // Managers are merged from the oldest to the newest, so the bucket takes the time of the manager merged last.
    times.set(name, times.get(identifier))
  }
  for (const [name, { apiVersion, sets }] of buckets) {
    fields.set(name, { set: FieldSet.union(sets), apiVersion, applied: false })
  }
}
