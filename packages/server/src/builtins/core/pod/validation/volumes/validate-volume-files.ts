import { type FieldError, type FieldPath, invalid, required } from '@kubewright/schema'
import { checkFileMode, checkLocalPath } from '../../../../checks/field-checks.ts'
import type { Volume } from '../../pod-types.ts'
import { volumeFieldPaths } from '../downward-fields.ts'
import { validateFieldSelector, validateResourceFieldSelector } from '../validate-downward.ts'

/** The part that volumes from ConfigMaps and from Secrets have in common. */
type KeyedSource = Pick<NonNullable<Volume['configMap']>, 'defaultMode' | 'items'>
type DownwardItem = NonNullable<NonNullable<Volume['downwardAPI']>['items']>[number]

/** Checks the file modes and items of a volume from a ConfigMap or a Secret. */
export function validateKeyedSource(source: KeyedSource, path: FieldPath, errors: FieldError[]): void {
  checkFileMode(errors, path.child('defaultMode'), source.defaultMode)
  for (const [i, item] of (source.items ?? []).entries()) validateKeyToPath(item, path.child('items').index(i), errors)
}

/** Checks the mapping of a key of a ConfigMap or a Secret to a file. */
export function validateKeyToPath(
  item: NonNullable<KeyedSource['items']>[number],
  path: FieldPath,
  errors: FieldError[],
): void {
  if (!item.key) errors.push(required(path.child('key')))
  if (!item.path) errors.push(required(path.child('path')))
  checkLocalPath(errors, path.child('path'), item.path ?? '')
  checkFileMode(errors, path.child('mode'), item.mode)
}

/** Checks a file of a downward API volume. As in kube-apiserver, `path` is the path of the volume and not of the item. */
export function validateDownwardItem(item: DownwardItem, path: FieldPath, errors: FieldError[]): void {
  if (!item.path) errors.push(required(path.child('path')))
  checkLocalPath(errors, path.child('path'), item.path ?? '')
  if (item.fieldRef) {
    validateFieldSelector(item.fieldRef, volumeFieldPaths, path.child('fieldRef'), errors)
    if (item.resourceFieldRef) {
      errors.push(invalid(path, 'resource', 'fieldRef and resourceFieldRef can not be specified simultaneously'))
    }
  } else if (item.resourceFieldRef) {
    validateResourceFieldSelector(item.resourceFieldRef, true, path.child('resourceFieldRef'), errors)
  } else {
    errors.push(required(path, 'one of fieldRef and resourceFieldRef is required'))
  }
  checkFileMode(errors, path.child('mode'), item.mode)
}
