import {
  ANY,
  BOOL,
  bindingsLibrary,
  CelEnvironment,
  type CelType,
  type DeclaredType,
  fromNative,
  kubernetesLibraries,
  mapType,
  QUANTITY_TYPE,
  type SizeEstimate,
  STRING,
  structType,
} from '@kubewright/cel'
import type * as resource from '@kubewright/k8s/resource/v1'
import { type FieldError, type FieldPath, forbidden, required, tooLong } from '@kubewright/schema'
import { checkExpression } from '../../admissionregistration/matching/admission-expressions.ts'
import { isTooLong } from '../../checks/strategy-checks.ts'
import type { Unchecked } from '../../typed/unchecked.ts'
import { checkItems } from './collections.ts'

type Selectors = readonly Unchecked<resource.DeviceSelector>[]

const maxSelectors = 32
const maxExpression = 10 * 1024

let environment: CelEnvironment | undefined

/** The CEL environment of device selectors: the driver of a device, and its attributes and capacities by domain and name. */
function deviceEnvironment(): CelEnvironment {
  const fields = { driver: STRING, attributes: byDomain(ANY), capacity: byDomain(QUANTITY_TYPE) }
  environment ??= CelEnvironment.create({ libraries: [...kubernetesLibraries, bindingsLibrary] }).extend({
    variables: {
      device: {
        ...declared(structType('kubernetes.DRADevice')),
        fields: new Map(Object.entries(fields).map(([name, type]) => [name, { jsonName: name, type: declared(type) }])),
      },
    },
  })
  return environment
}

function byDomain(type: CelType): CelType {
  return mapType(STRING, mapType(STRING, type))
}

function declared(type: CelType): DeclaredType {
  return { type, schema: {}, maxElements: 0, minSerializedSize: 0, read: fromNative }
}

const maxCost = 1_000_000
const maxEntries = 32

/** The maximum sizes in the `device` variable, in the form in which the cost estimator asks for them. */
interface Sized {
  readonly size: number
  readonly keys?: Sized | undefined
  readonly values?: Sized | undefined
  readonly fields?: Readonly<Record<string, Sized>> | undefined
}

const domain: Sized = { size: 63 }
const identifier: Sized = { size: 32 }
const attribute: Sized = { size: 64 }
const quantity: Sized = { size: 0 }
const entries = (values: Sized): Sized => ({
  size: maxEntries,
  keys: domain,
  values: { size: maxEntries, keys: identifier, values },
})
const deviceSizes: Sized = {
  size: 0,
  fields: { driver: { size: 63 }, attributes: entries(attribute), capacity: entries(quantity) },
}

/** The size at a path (dynamic-resource-allocation/cel, sizeEstimator). An attribute has the same limit whatever its name is. */
function sizeAt([variable, ...steps]: readonly string[]): SizeEstimate | undefined {
  let node: Sized | undefined = variable === 'device' ? deviceSizes : undefined
  for (const step of steps) {
    if (step === '@items' || step === '@values') node = node?.values
    else if (step === '@keys') node = node?.keys
    else node = node?.fields?.[step] ?? (node?.values === attribute ? attribute : undefined)
  }
  return node && { min: 0, max: node.size }
}

const wrongType = (given: string): string => `must evaluate to bool or the unknown type, not ${given}`

/** Checks the CEL expressions of device selectors. */
export function validateSelectors(selectors: Selectors, path: FieldPath, errors: FieldError[]): void {
  checkItems(errors, path, selectors, maxSelectors, ({ cel }, at) => {
    if (!cel) {
      errors.push(required(at.child('cel')))
      return
    }
    const expressionPath = at.child('cel', 'expression')
    const { expression = '' } = cel
    if (isTooLong(expression, maxExpression)) errors.push(tooLong(expressionPath, maxExpression))
    else {
      const environment = deviceEnvironment()
      const types = [BOOL, ANY]
      const isValid = checkExpression(errors, expressionPath, expression, environment, types, expression, wrongType)
      if (isValid && environment.compile(expression).estimateCost(sizeAt).max > maxCost) {
        errors.push(forbidden(expressionPath, 'too complex, exceeds cost limit'))
      }
    }
  })
}
