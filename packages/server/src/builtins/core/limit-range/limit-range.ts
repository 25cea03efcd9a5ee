import { isQualifiedName, nameIsDNSSubdomain, Quantity } from '@kubewright/base'
import type * as core from '@kubewright/k8s/core/v1'
import { duplicate, type FieldError, FieldPath, forbidden, invalid, required } from '@kubewright/schema'
import type { MutableObject } from '../../../resource/object.ts'
import { addInvalid } from '../../checks/field-checks.ts'
import { isHugePages, isNativeResource } from '../../checks/resource-names.ts'
import { type BuiltinDefinition, defineBuiltin } from '../../define-builtin.ts'
import type { Unchecked } from '../../typed/unchecked.ts'
import type { ResourceList } from '../pod/pod-types.ts'
import { defaultResourceList, quantityOf } from '../pod/resources/resource-list.ts'
import { checkContainerResourceName, checkResourceName } from '../pod/validation/containers/validate-resources.ts'

type Limit = Unchecked<core.LimitRangeItem>

const limitsPath = FieldPath.of('spec', 'limits')
const lists = ['max', 'min', 'default', 'defaultRequest', 'maxLimitRequestRatio'] as const
/** The largest quantity whose thousandths fit into an int64. */
const maxMilliValue = (2n ** 63n - 1n) / 1000n

function limitsOf(range: MutableObject): Limit[] {
  return ((range['spec'] as { limits?: Limit[] | null | undefined } | undefined)?.limits ?? []) as Limit[]
}

/** The default limit of containers is the maximum. The default request is the default limit, or else the minimum. */
function setDefaults(range: MutableObject): void {
  for (const limit of limitsOf(range)) {
    for (const list of lists) defaultResourceList(limit[list])
    if (limit.type !== 'Container') continue
    const limits: ResourceList = { ...limit.default }
    const requests: ResourceList = { ...limit.defaultRequest }
    for (const [name, amount] of Object.entries(limit.max ?? {})) limits[name] ??= amount
    for (const [name, amount] of Object.entries(limits)) requests[name] ??= amount
    for (const [name, amount] of Object.entries(limit.min ?? {})) requests[name] ??= amount
    if (Object.keys(limits).length > 0) limit.default = limits
    if (Object.keys(requests).length > 0) limit.defaultRequest = requests
  }
}

function validate(range: MutableObject): FieldError[] {
  const errors: FieldError[] = []
  const types = new Set<string>()
  for (const [i, limit] of limitsOf(range).entries()) {
    const at = limitsPath.index(i)
    const type = limit.type ?? ''
    checkType(errors, at.child('type'), type)
    if (types.has(type)) errors.push(duplicate(at.child('type'), type))
    types.add(type)
    validateLimit(limit, type, at, errors)
  }
  return errors
}

function checkType(errors: FieldError[], path: FieldPath, type: string): void {
  const texts = isQualifiedName(type)
  if (texts.length > 0) addInvalid(errors, path, type, texts)
  else if (!type.includes('/') && !['Pod', 'Container', 'PersistentVolumeClaim'].includes(type)) {
    errors.push(invalid(path, type, 'must be a standard limit type or fully qualified'))
  }
}

function validateLimit(limit: Limit, type: string, path: FieldPath, errors: FieldError[]): void {
  const names = new Set<string>()
  const checkName = type === 'Pod' || type === 'Container' ? checkContainerResourceName : checkResourceName
  const use = (list: (typeof lists)[number]): void => {
    for (const name of Object.keys(limit[list] ?? {})) {
      checkName(errors, path.child(list).key(name), name)
      names.add(name)
    }
  }
  use('max')
  use('min')
  const isPod = type === 'Pod'
  for (const list of ['default', 'defaultRequest'] as const) {
    if (!isPod) use(list)
    else if (Object.keys(limit[list] ?? {}).length > 0) {
      errors.push(forbidden(path.child(list), "may not be specified when `type` is 'Pod'"))
    }
  }
  if (
    type === 'PersistentVolumeClaim' &&
    limit.min?.['storage'] === undefined &&
    limit.max?.['storage'] === undefined
  ) {
    const text = 'either minimum or maximum storage value is required, but neither was provided'
    errors.push(required(path.child('limits'), text))
  }
  use('maxLimitRequestRatio')
  for (const name of names) compareAmounts(limit, name, isPod, path, errors)
}

function compareAmounts(limit: Limit, name: string, isPod: boolean, path: FieldPath, errors: FieldError[]): void {
  const amount = (list: (typeof lists)[number]): Quantity | undefined => {
    const value = limit[list]?.[name]
    return value === undefined ? undefined : quantityOf(value)
  }
  const min = amount('min')
  const max = amount('max')
  const byDefault = isPod ? undefined : amount('default')
  const request = isPod ? undefined : amount('defaultRequest')
  const ratio = amount('maxLimitRequestRatio')
  const reject = (list: string, shown: Quantity, text: string): void => {
    errors.push(invalid(path.child(list).key(name), shown.toString(), text))
  }
  const exceeds = (a: Quantity | undefined, b: Quantity | undefined): boolean => !!a && !!b && a.cmp(b) > 0
  if (exceeds(min, max)) reject('min', min!, `min value ${min} is greater than max value ${max}`)
  if (exceeds(min, request)) {
    reject('defaultRequest', request!, `min value ${min} is greater than default request value ${request}`)
  }
  if (exceeds(request, max)) {
    reject('defaultRequest', request!, `default request value ${request} is greater than max value ${max}`)
  }
  if (exceeds(request, byDefault)) {
    reject(
      'defaultRequest',
      request!,
      `default request value ${request} is greater than default limit value ${byDefault}`,
    )
  }
  if (exceeds(min, byDefault)) reject('default', min!, `min value ${min} is greater than default value ${byDefault}`)
  if (exceeds(byDefault, max)) reject('default', max!, `default value ${byDefault} is greater than max value ${max}`)
  if (ratio && ratio.cmp(Quantity.of(1)) < 0) reject('maxLimitRequestRatio', ratio, `ratio ${ratio} is less than 1`)
  if (ratio && min && max) {
    const fine = [ratio, min, max].every((value) => value.value() < maxMilliValue)
    const bound = fine ? Number(max.milliValue()) / Number(min.milliValue()) : Number(max.value()) / Number(min.value())
    if ((fine ? Number(ratio.milliValue()) / 1000 : Number(ratio.value())) > bound) {
      reject('maxLimitRequestRatio', ratio, `ratio ${ratio} is greater than max/min = ${bound.toFixed(6)}`)
    }
  }
  const overcommit = isNativeResource(name) && !isHugePages(name)
  if (!overcommit && byDefault && request && byDefault.cmp(request) !== 0) {
    const text = `default value ${byDefault} must equal to defaultRequest value ${request} in ${name}`
    reject('defaultRequest', request, text)
  }
}

/** LimitRanges (pkg/registry/core/limitrange). */
export const limitRanges: BuiltinDefinition = defineBuiltin({
  group: '',
  resource: 'limitranges',
  strategy: {
    validateName: nameIsDNSSubdomain,
    allowCreateOnUpdate: true,
    setDefaults,
    // A LimitRange without a name gets a UUID as name.
    prepareForCreate: ({ metadata }, { newUid }) => {
      metadata.name ||= newUid()
    },
    validate,
    metadataOnUpdate: ['create'],
    validateUpdate: validate,
  },
})
