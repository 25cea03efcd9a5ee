import {
  ANY,
  BOOL,
  CelEnvironment,
  type CelType,
  type DeclaredType,
  fromNative,
  kubernetesLibraries,
  mapType,
  QUANTITY_TYPE,
  STRING,
  structType,
} from '@kubewright/cel'
import type * as resource from '@kubewright/k8s/resource/v1'
import { type FieldError, type FieldPath, required, tooLong } from '@kubewright/schema'
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
  environment ??= CelEnvironment.create({ libraries: kubernetesLibraries }).extend({
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
    else checkExpression(errors, expressionPath, expression, deviceEnvironment(), [BOOL, ANY], expression, wrongType)
  })
}
