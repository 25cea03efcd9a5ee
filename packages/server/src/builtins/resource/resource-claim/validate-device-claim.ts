import { encodeJson } from '@kubewright/api'
import { isDNS1123Label, isDNS1123Subdomain } from '@kubewright/base'
import type * as resource from '@kubewright/k8s/resource/v1'
import { type FieldError, type FieldPath, invalid, required, tooLong } from '@kubewright/schema'
import { addInvalid, checkCsiDriverName, unsupported } from '../../checks/field-checks.ts'
import { isTooLong } from '../../checks/strategy-checks.ts'
import type { Unchecked } from '../../typed/unchecked.ts'
import { checkItems, checkSet } from '../devices/collections.ts'
import { validateSelectors } from '../devices/device-selectors.ts'
import { checkFullDeviceName } from '../devices/validate-device-names.ts'

/** The devices of a claim, as a client sends them. */
export type DeviceClaim = Unchecked<resource.DeviceClaim>
type Request = Unchecked<resource.DeviceRequest>
type Exactly = Unchecked<resource.ExactDeviceRequest>
type Configuration = Unchecked<resource.DeviceClassConfiguration>

const maxRequests = 32
const maxConstraints = 32
/** The maximum number of configurations of a claim or a device class. */
export const maxConfigurations = 32
const maxAlternatives = 8
const maxParameters = 10 * 1024

function eachOf({ requests = [] }: DeviceClaim): Exactly[] {
  return requests.flatMap(({ exactly, firstAvailable = [] }) =>
    exactly ? [exactly, ...firstAvailable] : firstAvailable,
  )
}

/** Fills the defaults of the requests of a claim. */
export function defaultDeviceClaim(claim: DeviceClaim | undefined): void {
  for (const request of eachOf(claim ?? {})) {
    request.allocationMode ||= 'ExactCount'
    if (request.allocationMode === 'ExactCount') request.count ||= 1
  }
}

/** Removes fields whose feature gate is off by default. */
export function dropDisabledClaimFields(claim: DeviceClaim | undefined): void {
  for (const request of eachOf(claim ?? {})) {
    delete request.tolerations
    delete request.capacity
  }
  for (const constraint of claim?.constraints ?? []) delete constraint.distinctAttribute
}

/** Checks the devices of a claim (pkg/apis/resource/validation, validateDeviceClaim). */
export function validateDeviceClaim(claim: DeviceClaim, path: FieldPath, errors: FieldError[]): void {
  const { requests = [], constraints = [], config = [] } = claim
  const names = requestNamesOf(claim)
  const check = (request: Request, at: FieldPath): void => validateRequest(request, at, errors)
  checkSet(errors, path.child('requests'), requests, maxRequests, check, ({ name = '' }) => name)
  checkItems(errors, path.child('constraints'), constraints, maxConstraints, (constraint, at) => {
    checkRequestReferences(constraint.requests ?? [], names, at.child('requests'), errors)
    const { matchAttribute } = constraint
    if (matchAttribute === undefined) errors.push(required(at.child('matchAttribute')))
    else checkFullDeviceName(errors, at.child('matchAttribute'), matchAttribute)
  })
  checkItems(errors, path.child('config'), config, maxConfigurations, (each, at) => {
    checkRequestReferences(each.requests ?? [], names, at.child('requests'), errors)
    validateConfiguration(each, at, errors)
  })
}

/** The names of the requests of a claim, and of subrequests with the name of their request before a slash. */
export function requestNamesOf({ requests = [] }: DeviceClaim): ReadonlySet<string> {
  const names = new Map<string, readonly string[]>()
  // The last one of several requests with the same name counts, although the claim is invalid.
  for (const { name = '', firstAvailable = [] } of requests) {
    names.set(name, [name, ...firstAvailable.map((alternative) => `${name}/${alternative.name ?? ''}`)])
  }
  return new Set([...names.values()].flat())
}

/** Checks that references name a request, or a request and one of its subrequests. */
export function checkRequestReferences(
  references: readonly string[],
  names: ReadonlySet<string>,
  path: FieldPath,
  errors: FieldError[],
): void {
  const check = (name: string, at: FieldPath): void => checkRequestReference(name, names, at, errors)
  checkSet(errors, path, references, maxRequests, check, (name) => name)
}

/** Checks one reference to a request. */
export function checkRequestReference(
  name: string,
  names: ReadonlySet<string>,
  path: FieldPath,
  errors: FieldError[],
): void {
  const text = "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"
  const steps = name.split('/')
  if (steps.length <= 2) for (const step of steps) addInvalid(errors, path, step, isDNS1123Label(step))
  if (!names.has(name)) errors.push(invalid(path, name, text))
}

function validateRequest(request: Request, path: FieldPath, errors: FieldError[]): void {
  const { name = '', exactly, firstAvailable = [] } = request
  addInvalid(errors, path.child('name'), name, isDNS1123Label(name))
  const text = 'exactly one of `exactly` or `firstAvailable` is required'
  if (exactly && firstAvailable.length > 0) {
    errors.push(invalid(path, null, `${text}, but multiple fields are set`))
  } else if (exactly) validateExactly(exactly, path.child('exactly'), errors)
  else if (firstAvailable.length === 0) errors.push(required(path, text))
  else {
    const check = (alternative: (typeof firstAvailable)[number], at: FieldPath): void => {
      addInvalid(errors, at.child('name'), alternative.name ?? '', isDNS1123Label(alternative.name ?? ''))
      validateExactly(alternative, at, errors)
    }
    const listPath = path.child('firstAvailable')
    checkSet(errors, listPath, firstAvailable, maxAlternatives, check, (alternative) => alternative.name ?? '')
  }
}

function validateExactly(request: Exactly, path: FieldPath, errors: FieldError[]): void {
  const { deviceClassName = '', selectors = [], allocationMode = '', count = 0 } = request
  const classPath = path.child('deviceClassName')
  if (deviceClassName === '') errors.push(required(classPath))
  else addInvalid(errors, classPath, deviceClassName, isDNS1123Subdomain(deviceClassName))
  validateSelectors(selectors, path.child('selectors'), errors)
  const countPath = path.child('count')
  if (allocationMode === 'All') {
    if (count !== 0) {
      errors.push(invalid(countPath, count, "must not be specified when allocationMode is 'All'"))
    }
  } else if (allocationMode !== 'ExactCount') {
    errors.push(unsupported(path.child('allocationMode'), allocationMode, ['All', 'ExactCount']))
  } else if (count <= 0) errors.push(invalid(countPath, count, 'must be greater than zero'))
}

/** Checks the opaque parameters for a driver. */
export function validateConfiguration({ opaque }: Configuration, path: FieldPath, errors: FieldError[]): void {
  const at = path.child('opaque')
  if (!opaque) {
    errors.push(required(at))
    return
  }
  checkCsiDriverName(errors, at.child('driver'), opaque.driver)
  checkRawObject(opaque.parameters, at.child('parameters'), errors)
}

/** Checks that a value of arbitrary JSON is an object of limited size. */
export function checkRawObject(value: unknown, path: FieldPath, errors: FieldError[]): void {
  if (value === undefined || value === null) errors.push(required(path))
  else if (isTooLong(encodeJson(value), maxParameters)) errors.push(tooLong(path, maxParameters))
  else if (typeof value !== 'object' || Array.isArray(value)) {
    errors.push(invalid(path, '<value omitted>', 'must be a valid JSON object'))
  }
}
