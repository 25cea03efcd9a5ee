import { isCIdentifier, isDNS1123Subdomain } from '@kubewright/base'
import { type FieldError, type FieldPath, invalid, required, tooLong } from '@kubewright/schema'
import { addInvalid, checkCsiDriverName } from '../../checks/field-checks.ts'
import { isTooLong } from '../../checks/strategy-checks.ts'

const maxId = 32
const maxPoolName = 253

/** Checks the name of an attribute or a capacity: an identifier with an optional domain before a slash. */
export function checkDeviceQualifiedName(errors: FieldError[], path: FieldPath, name: string): void {
  const steps = name.split('/')
  if (steps.length > 2) return
  const id = steps.at(-1)!
  if (steps.length === 2) {
    if (steps[0] === '') errors.push(invalid(path, '', 'the domain must not be empty'))
    else checkCsiDriverName(errors, path, steps[0])
    if (id === '') {
      errors.push(invalid(path, '', 'the name must not be empty'))
      return
    }
  }
  if (isTooLong(id, maxId)) errors.push(tooLong(path, maxId))
  addInvalid(errors, path, id, isCIdentifier(id))
}

/** As {@link checkDeviceQualifiedName}, with a required domain. */
export function checkFullDeviceName(errors: FieldError[], path: FieldPath, name: string): void {
  checkDeviceQualifiedName(errors, path, name)
  if (!name.includes('/')) {
    const text = 'a fully qualified name must be a domain and a name separated by a slash'
    errors.push(invalid(path, name, text))
  }
}

/** Checks the name of a device pool: DNS subdomains that are separated by slashes. */
export function checkPoolName(errors: FieldError[], path: FieldPath, name: string): void {
  if (name === '') {
    errors.push(required(path))
    return
  }
  if (isTooLong(name, maxPoolName)) errors.push(tooLong(path, maxPoolName))
  for (const step of name.split('/')) addInvalid(errors, path, step, isDNS1123Subdomain(step))
}
