import { type FieldError, type FieldPath, forbidden, invalid, required } from '@kubewright/schema'
import { checkFileMode, checkLocalPath } from '../../../../checks/field-checks.ts'
import type { Volume } from '../../pod-types.ts'
import { validateDownwardItem, validateKeyToPath } from './validate-volume-files.ts'

type Projected = NonNullable<Volume['projected']>
type Source = NonNullable<Projected['sources']>[number]

const minTokenSeconds = 600
const maxTokenSeconds = 2 ** 32

/** Checks a projected volume, which combines files from several sources. */
export function validateProjectedVolume(projected: Projected, path: FieldPath, errors: FieldError[]): void {
  checkFileMode(errors, path.child('defaultMode'), projected.defaultMode)
  const paths = new Set<string>()
  for (const [i, source] of (projected.sources ?? []).entries()) {
    const at = path.child('sources').index(i)
    validateProjectedSource(source, path, at, paths, errors)
    const kinds = Object.values(source).filter((value) => value != null).length
    if (kinds > 1) errors.push(forbidden(at, 'may not specify more than 1 volume type per source'))
  }
}

/** Checks one source. `paths` collects the files of all sources, which must differ. */
function validateProjectedSource(
  source: Source,
  volumePath: FieldPath,
  path: FieldPath,
  paths: Set<string>,
  errors: FieldError[],
): void {
  const addFile = (file: string | undefined, shown: string): void => {
    if (!file) return
    if (paths.has(file)) errors.push(invalid(volumePath, shown, 'conflicting duplicate paths'))
    else paths.add(file)
  }
  for (const kind of ['secret', 'configMap'] as const) {
    const keyed = source[kind]
    if (!keyed) continue
    if (!keyed.name) errors.push(required(path.child(kind, 'name')))
    for (const [i, item] of (keyed.items ?? []).entries()) {
      validateKeyToPath(item, path.child(kind, 'items').index(i), errors)
      addFile(item.path, keyed.name ?? '')
    }
  }
  for (const item of source.downwardAPI?.items ?? []) {
    validateDownwardItem(item, path.child('downwardAPI'), errors)
    addFile(item.path, item.path ?? '')
  }
  const token = source.serviceAccountToken
  if (!token) return
  const seconds = token.expirationSeconds ?? 0
  const at = path.child('serviceAccountToken', 'expirationSeconds')
  if (seconds < minTokenSeconds) {
    errors.push(invalid(at, seconds, 'may not specify a duration less than 10 minutes'))
  }
  if (seconds > maxTokenSeconds) {
    errors.push(invalid(at, seconds, 'may not specify a duration larger than 2^32 seconds'))
  }
  if (!token.path) errors.push(required(volumePath.child('path')))
  else checkLocalPath(errors, volumePath.child('path'), token.path)
}
