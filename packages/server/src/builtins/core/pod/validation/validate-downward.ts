import { type FieldError, type FieldPath, invalid, notSupported, required } from '@kubewright/schema'
import { checkQualifiedName } from '../../../checks/field-checks.ts'
import type { Container } from '../pod-types.ts'
import { quantityOf } from '../resources/resource-list.ts'
import { knownFieldPaths } from './downward-fields.ts'

type ValueFrom = NonNullable<NonNullable<NonNullable<Container['env']>[number]>['valueFrom']>

const resourceFields = [
  'limits.cpu',
  'limits.ephemeral-storage',
  'limits.memory',
  'requests.cpu',
  'requests.ephemeral-storage',
  'requests.memory',
]
const sizes = '1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei'
const sizeDivisors = new Set(sizes.split(', '))
const hugePages = /^(requests|limits)\.hugepages-/

/** Checks a reference to a pod field. The error lists the `allowed` fields. */
export function validateFieldSelector(
  selector: NonNullable<ValueFrom['fieldRef']>,
  allowed: readonly string[],
  path: FieldPath,
  errors: FieldError[],
): void {
  const { apiVersion = '', fieldPath = '' } = selector
  if (apiVersion === '') {
    errors.push(required(path.child('apiVersion')))
    return
  }
  if (fieldPath === '') {
    errors.push(required(path.child('fieldPath')))
    return
  }
  const failed = (why: string): void => {
    errors.push(invalid(path.child('fieldPath'), fieldPath, `error converting fieldPath: ${why}`))
  }
  const subscript = /^(.*)\['([^']*)'\]$/s.exec(fieldPath)
  if (apiVersion !== 'v1') failed(`unsupported pod version: ${apiVersion}`)
  else if (subscript) {
    const [, parent, key = ''] = subscript
    if (parent === 'metadata.annotations') checkQualifiedName(errors, path, key.toLowerCase())
    else if (parent === 'metadata.labels') checkQualifiedName(errors, path, key)
    else failed(`field label does not support subscript: ${fieldPath}`)
  } else if (fieldPath !== 'spec.host' && !knownFieldPaths.has(fieldPath)) {
    failed(`field label not supported: ${fieldPath}`)
  } else {
    const internal = fieldPath === 'spec.host' ? 'spec.nodeName' : fieldPath
    if (!allowed.includes(internal)) errors.push(notSupported(path.child('fieldPath'), internal, allowed))
  }
}

/** Checks a reference to a request or a limit of a container. */
export function validateResourceFieldSelector(
  selector: NonNullable<ValueFrom['resourceFieldRef']>,
  inVolume: boolean,
  path: FieldPath,
  errors: FieldError[],
): void {
  const { containerName, resource = '', divisor } = selector
  if (inVolume && !containerName) errors.push(required(path.child('containerName')))
  else if (resource === '') errors.push(required(path.child('resource')))
  else if (!resourceFields.includes(resource) && !hugePages.test(resource)) {
    errors.push(notSupported(path.child('resource'), resource, resourceFields))
  }
  const amount = quantityOf(divisor)
  if (amount.isZero()) return
  const wrong = (text: string): void => {
    errors.push(invalid(path.child('divisor'), resource, `only divisor's values ${text} resource`))
  }
  const text = amount.toString()
  if (resource === 'limits.cpu' || resource === 'requests.cpu') {
    if (text !== '1' && text !== '1m') wrong('1m and 1 are supported with the cpu')
  } else if (!sizeDivisors.has(text)) {
    const what = resource.endsWith('.memory')
      ? 'memory'
      : resource.endsWith('.ephemeral-storage')
        ? 'local ephemeral storage'
        : hugePages.test(resource)
          ? 'hugepages'
          : undefined
    if (what) wrong(`${sizes} are supported with the ${what}`)
  }
}
