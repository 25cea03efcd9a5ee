import { utf8Length } from '@kubewright/base'
import { type FieldError, FieldPath, invalid, required, tooLong } from '@kubewright/schema'

const maxSize = 256 * 1024
const maxCount = 512
const path = FieldPath.of('parameters')

/** Checks the parameters of a StorageClass or a VolumeAttributesClass. */
export function validateParameters(
  parameters: Readonly<Record<string, string>>,
  mayBeEmpty: boolean,
  errors: FieldError[],
): void {
  const entries = Object.entries(parameters)
  if (entries.length > maxCount) {
    errors.push(tooLong(path, maxCount))
    return
  }
  let size = 0
  for (const [key, value] of entries) {
    if (key === '') errors.push(invalid(path, key, 'field can not be empty.'))
    size += utf8Length(key) + utf8Length(value)
  }
  if (size > maxSize) errors.push(tooLong(path, maxSize))
  if (!mayBeEmpty && entries.length === 0) errors.push(required(path, 'must contain at least one key/value pair'))
}
