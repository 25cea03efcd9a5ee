import { isDNS1123Label, isQualifiedName, Quantity } from '@kubewright/base'
import { duplicate, FieldError, type FieldPath, forbidden, invalid, notFound, required } from '@kubewright/schema'
import { addInvalid, unsupported } from '../../../../checks/field-checks.ts'
import {
  isExtendedResource,
  isHugePages,
  isIntegerResource,
  isNativeResource,
  isStandardResource,
} from '../../../../checks/resource-names.ts'
import type { PodSpec, ResourceRequirements } from '../../pod-types.ts'
import {
  aggregateContainerLimits,
  aggregateContainerRequests,
  isPodLevelResource,
} from '../../resources/pod-resources.ts'
import { quantityOf } from '../../resources/resource-list.ts'

type NameCheck = (errors: FieldError[], path: FieldPath, name: string) => void

/** Checks a resource name: a qualified name, or a standard name without domain. */
export function checkResourceName(errors: FieldError[], path: FieldPath, name: string): void {
  const messages = isQualifiedName(name)
  if (messages.length > 0) addInvalid(errors, path, name, messages)
  else if (!name.includes('/') && !isStandardResource(name)) {
    errors.push(invalid(path, name, 'must be a standard resource type or fully qualified'))
  }
}

/** Checks the name of a resource in the requests or limits of a container. */
export function checkContainerResourceName(errors: FieldError[], path: FieldPath, name: string): void {
  checkResourceName(errors, path, name)
  if (!name.includes('/')) {
    if (!['cpu', 'memory', 'ephemeral-storage'].includes(name) && !isHugePages(name)) {
      errors.push(invalid(path, name, 'must be a standard resource for containers'))
    }
  } else if (!isNativeResource(name) && !isExtendedResource(name)) {
    errors.push(invalid(path, name, "doesn't follow extended resource name standard"))
  }
}

function checkPodResourceName(errors: FieldError[], path: FieldPath, name: string): void {
  const before = errors.length
  checkResourceName(errors, path, name)
  if (errors.length === before && !isPodLevelResource(name)) {
    errors.push(unsupported(path, name, ['cpu', 'hugepages-', 'memory']))
  }
}

/** Checks an amount of a resource: it must not be negative, and an integer for resources that are counted. */
export function checkResourceQuantity(errors: FieldError[], path: FieldPath, name: string, value: Quantity): void {
  if (value.sign < 0) errors.push(invalid(path, value.toString(), 'must be greater than or equal to 0'))
  if (isIntegerResource(name) && value.milliValue() % 1000n !== 0n) {
    errors.push(invalid(path, value.toString(), 'must be an integer'))
  }
}

/** Checks the requests and limits of a container. */
export function validateContainerResources(
  requirements: ResourceRequirements,
  claimNames: ReadonlySet<string>,
  path: FieldPath,
  errors: FieldError[],
): void {
  validateRequirements(requirements, checkContainerResourceName, claimNames, path, errors)
}

/** Checks the requests and limits of a pod as a whole against those of its containers. */
export function validatePodResources(
  spec: PodSpec,
  claimNames: ReadonlySet<string>,
  specPath: FieldPath,
  errors: FieldError[],
): void {
  const { resources } = spec
  if (!resources) return
  const path = specPath.child('resources')
  if (spec.os?.name === 'windows') {
    errors.push(forbidden(path, 'may not be set for a windows pod'))
    return
  }
  if (resources.claims) {
    errors.push(forbidden(path.child('claims'), 'claims may not be set for Resources at pod-level'))
  }
  validateRequirements(resources, checkPodResourceName, claimNames, path, errors)
  for (const [name, sum] of aggregateContainerRequests(spec)) {
    const own = resources.requests?.[name]
    if (own !== undefined && sum.cmp(quantityOf(own)) > 0) {
      const text = `must be greater than or equal to aggregate container requests of ${sum}`
      errors.push(invalid(path.child('requests').key(name), quantityOf(own).toString(), text))
    }
  }
  for (const [name, sum] of aggregateContainerLimits(spec)) {
    const own = resources.limits?.[name]
    if (isHugePages(name) && own !== undefined && sum.cmp(quantityOf(own)) > 0) {
      const text = `must be greater than or equal to aggregate container limits of ${sum}`
      errors.push(invalid(path.child('limits').key(name), quantityOf(own).toString(), text))
    }
  }
  for (const [i, container] of (spec.containers ?? []).entries()) {
    for (const [name, limit] of Object.entries(container.resources?.limits ?? {})) {
      const own = resources.limits?.[name]
      if (own === undefined || quantityOf(limit).cmp(quantityOf(own)) <= 0) continue
      const at = path.child('containers').index(i).key(name).child('limits')
      errors.push(
        invalid(at, quantityOf(limit).toString(), `must be less than or equal to pod limits of ${quantityOf(own)}`),
      )
    }
  }
}

function validateRequirements(
  { limits = {}, requests = {}, claims = [] }: ResourceRequirements,
  checkName: NameCheck,
  claimNames: ReadonlySet<string>,
  path: FieldPath,
  errors: FieldError[],
): void {
  const limitsPath = path.child('limits')
  const requestsPath = path.child('requests')
  for (const [name, value] of Object.entries(limits)) {
    const at = limitsPath.key(name)
    const amount = quantityOf(value)
    checkName(errors, at, name)
    checkResourceQuantity(errors, at, name, amount)
    checkHugePages(errors, at, name, amount)
  }
  for (const [name, value] of Object.entries(requests)) {
    const at = requestsPath.key(name)
    const amount = quantityOf(value)
    checkName(errors, at, name)
    checkResourceQuantity(errors, at, name, amount)
    const overcommit = isNativeResource(name) && !isHugePages(name)
    if (limits[name] !== undefined) {
      const limit = quantityOf(limits[name])
      const order = amount.cmp(limit)
      if (order !== 0 && !overcommit) {
        errors.push(invalid(requestsPath, amount.toString(), `must be equal to ${name} limit of ${limit}`))
      } else if (order > 0) {
        errors.push(invalid(requestsPath, amount.toString(), `must be less than or equal to ${name} limit of ${limit}`))
      }
    } else if (!overcommit) {
      errors.push(required(limitsPath, 'Limit must be set for non overcommitable resources'))
    }
    checkHugePages(errors, at, name, amount)
  }
  const names = [...Object.keys(limits), ...Object.keys(requests)]
  if (names.some(isHugePages) && !names.includes('cpu') && !names.includes('memory')) {
    errors.push(forbidden(path, 'HugePages require cpu or memory'))
  }
  validateClaimNames(claims, claimNames, path.child('claims'), errors)
}

function checkHugePages(errors: FieldError[], path: FieldPath, name: string, amount: Quantity): void {
  if (!isHugePages(name)) return
  const size = Quantity.tryParse(name.slice('hugepages-'.length))
  if (size && size.sign > 0 && size.milliValue() % 1000n === 0n && amount.value() % size.value() === 0n) return
  errors.push(invalid(path, amount.toString(), `${amount} is not positive integer multiple of ${name}`))
}

/** Checks that a container uses only resource claims of its pod, each at most once. */
function validateClaimNames(
  claims: NonNullable<ResourceRequirements['claims']>,
  known: ReadonlySet<string>,
  path: FieldPath,
  errors: FieldError[],
): void {
  const seen = new Set<string>()
  for (const [i, { name = '', request = '' }] of claims.entries()) {
    const at = path.index(i)
    if (name === '') {
      errors.push(required(at))
      continue
    }
    if (seen.has(name)) errors.push(duplicate(at, name))
    else {
      let key = name
      if (request !== '') {
        addInvalid(errors, at.child('request'), request, isDNS1123Label(request))
        key = `${name}/${request}`
      }
      if (seen.has(key)) errors.push(duplicate(at, key))
      else if (request === '' && [...seen].some((other) => other.startsWith(`${name}/`)))
        errors.push(duplicate(at, name))
      seen.add(key)
    }
    if (!known.has(name)) {
      const { type, field, badValue } = notFound(at, name)
      const which = known.size === 0 ? ' which is empty' : `: ${[...known].sort().join(', ')}`
      errors.push(new FieldError(type, field, badValue, `must be one of the names in pod.spec.resourceClaims${which}`))
    }
  }
}
