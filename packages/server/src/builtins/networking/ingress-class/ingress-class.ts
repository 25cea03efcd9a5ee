import { isDomainPrefixedPath, nameIsDNSLabel, nameIsDNSSubdomain } from '@kubewright/base'
import type { IngressClass } from '@kubewright/k8s'
import type * as networking from '@kubewright/k8s/networking/v1'
import { type FieldError, forbidden, required, tooLong } from '@kubewright/schema'
import type { MutableObject } from '../../../resource/object.ts'
import { ageColumn, defineTable, type Loose, nameColumn, textColumn } from '../../../table/columns.ts'
import { addInvalid, unsupported } from '../../checks/field-checks.ts'
import { checkImmutable, isTooLong, part, specPath } from '../../checks/strategy-checks.ts'
import { type BuiltinDefinition, defineBuiltin } from '../../define-builtin.ts'
import type { Unchecked } from '../../typed/unchecked.ts'
import { validateReference } from '../ingress/validate-ingress-spec.ts'

type Spec = Unchecked<networking.IngressClassSpec>

const maxController = 250

/** IngressClasses (pkg/registry/networking/ingressclass). */
export const ingressClasses: BuiltinDefinition = defineBuiltin({
  group: 'networking.k8s.io',
  resource: 'ingressclasses',
  table: defineTable<IngressClass>([
    nameColumn,
    textColumn('Controller', 'Controller of the class.', ({ spec }) => spec?.controller ?? ''),
    textColumn('Parameters', 'Object with parameters of the class.', ({ spec }) => parametersText(spec?.parameters)),
    ageColumn,
  ]),
  strategy: {
    validateName: nameIsDNSSubdomain,
    setDefaults: (object) => {
      const { parameters } = part<Spec>(object, 'spec')
      if (parameters) parameters.scope ??= 'Cluster'
    },
    generation: true,
    validate: validateClass,
    validateUpdate: (object, old) => {
      const errors: FieldError[] = []
      const [spec, before] = [part<Spec>(object, 'spec'), part<Spec>(old, 'spec')]
      checkImmutable(errors, specPath.child('controller'), spec.controller ?? '', before.controller ?? '')
      return [...errors, ...validateClass(object)]
    },
  },
})

function validateClass(object: MutableObject): FieldError[] {
  const errors: FieldError[] = []
  const { controller = '', parameters } = part<Spec>(object, 'spec')
  const controllerPath = specPath.child('controller')
  if (isTooLong(controller, maxController)) errors.push(tooLong(controllerPath, maxController))
  if (controller === '') errors.push(required(controllerPath))
  else addInvalid(errors, controllerPath, controller, isDomainPrefixedPath(controller))
  if (!parameters) return errors
  const path = specPath.child('parameters')
  validateReference(parameters, path, errors)
  const { scope, namespace } = parameters
  if (scope === undefined) errors.push(required(path.child('scope')))
  else if (scope === 'Namespace') {
    if (namespace === undefined) {
      errors.push(required(path.child('namespace'), "`parameters.scope` is set to 'Namespace'"))
    } else addInvalid(errors, path.child('namespace'), namespace, nameIsDNSLabel(namespace, false))
  } else if (scope !== 'Cluster') errors.push(unsupported(path.child('scope'), scope, ['Cluster', 'Namespace']))
  else if (namespace !== undefined) {
    errors.push(forbidden(path.child('namespace'), "`parameters.scope` is set to 'Cluster'"))
  }
  return errors
}

function parametersText(parameters: Loose<IngressClass['spec']['parameters']> | null | undefined): string {
  if (!parameters) return '<none>'
  const { kind, apiGroup, name } = parameters
  return `${kind ?? ''}${typeof apiGroup === 'string' ? `.${apiGroup}` : ''}/${name ?? ''}`
}
