import {
  isDNS1123Subdomain,
  nameIsDNS1035Label,
  nameIsDNSLabel,
  nameIsDNSSubdomain,
  parseIPSloppy,
} from '@kubewright/base'
import type * as networking from '@kubewright/k8s/networking/v1'
import { type FieldError, FieldPath, invalid } from '@kubewright/schema'
import type { MutableObject } from '../../../resource/object.ts'
import { withStatus } from '../../../resource/status-strategy.ts'
import { addInvalid } from '../../checks/field-checks.ts'
import { checkLegacyIp } from '../../checks/ip-checks.ts'
import { ipWarnings } from '../../checks/ip-warnings.ts'
import { part, specPath, statusPath } from '../../checks/strategy-checks.ts'
import { type BuiltinDefinition, defineBuiltin } from '../../define-builtin.ts'
import type { Unchecked } from '../../typed/unchecked.ts'
import { ingressTable } from './ingress-table.ts'
import {
  type IngressOptions,
  type IngressSpec,
  validateIngressSpec,
  validateRuleValue,
} from './validate-ingress-spec.ts'

type Status = Unchecked<networking.IngressStatus>

const classAnnotation = 'kubernetes.io/ingress.class'
const addressesPath = statusPath.child('loadBalancer', 'ingress')

/** Ingresses (pkg/registry/networking/ingress). */
export const ingresses: BuiltinDefinition = defineBuiltin({
  group: 'networking.k8s.io',
  resource: 'ingresses',
  reportedPrefix: '/registry/ingress/',
  table: ingressTable,
  ...withStatus(
    {
      validateName: nameIsDNSSubdomain,
      generation: true,
      validate: (object) => {
        const errors: FieldError[] = []
        const spec = part<IngressSpec>(object, 'spec')
        validateIngressSpec(spec, specPath, strict, errors)
        const annotation = object.metadata.annotations?.[classAnnotation]
        if (annotation !== undefined && spec.ingressClassName !== undefined && annotation !== spec.ingressClassName) {
          const path = FieldPath.of('annotations', classAnnotation)
          errors.push(invalid(path, annotation, 'must match `ingressClassName` when both are specified'))
        }
        return errors
      },
      validateUpdate: (object, old) => {
        const errors: FieldError[] = []
        const options = optionsFor(part<IngressSpec>(old, 'spec'))
        validateIngressSpec(part<IngressSpec>(object, 'spec'), specPath, options, errors)
        return errors
      },
      warningsOnCreate: (object) => {
        const unused = object.metadata.annotations?.[classAnnotation] === undefined
        if (unused || part<IngressSpec>(object, 'spec').ingressClassName !== undefined) return []
        return [`annotation "${classAnnotation}" is deprecated, please use 'spec.ingressClassName' instead`]
      },
    },
    {
      validateUpdate: validateStatusUpdate,
      warningsOnUpdate: (object) =>
        addressesOf(object).flatMap(({ ip }, i) => (ip ? ipWarnings(addressesPath.index(i), ip) : [])),
    },
  ),
})

const strict: IngressOptions = { anySecretName: false, anyWildcardRule: false, relaxedServiceName: false }

/** The rules for an update: values of the stored object that are invalid by today's rules may stay. */
function optionsFor(old: IngressSpec): IngressOptions {
  const { rules = [], tls = [] } = old
  const services = [
    old.defaultBackend,
    ...rules.flatMap(({ http }) => (http?.paths ?? []).map(({ backend }) => backend)),
  ]
  return {
    anySecretName: tls.some(({ secretName }) => secretName && nameIsDNSSubdomain(secretName, false).length > 0),
    anyWildcardRule: rules.some((rule) => {
      if (!rule.host?.includes('*')) return false
      const errors: FieldError[] = []
      validateRuleValue(rule, FieldPath.none, strict, errors)
      return errors.length > 0
    }),
    relaxedServiceName: services.some((backend) => {
      const name = backend?.service?.name
      if (name === undefined) return false
      return nameIsDNSLabel(name, false).length === 0 && nameIsDNS1035Label(name, false).length > 0
    }),
  }
}

function addressesOf(object: MutableObject): NonNullable<NonNullable<Status['loadBalancer']>['ingress']> {
  return part<Status>(object, 'status').loadBalancer?.ingress ?? []
}

function validateStatusUpdate(object: MutableObject, old: MutableObject): FieldError[] {
  const errors: FieldError[] = []
  const known = new Set(addressesOf(old).map(({ ip }) => ip ?? ''))
  for (const [i, { ip, hostname }] of addressesOf(object).entries()) {
    const at = addressesPath.index(i)
    if (ip) checkLegacyIp(errors, at.child('ip'), ip, known)
    if (!hostname) continue
    addInvalid(errors, at.child('hostname'), hostname, isDNS1123Subdomain(hostname))
    if (parseIPSloppy(hostname)) {
      errors.push(invalid(at.child('hostname'), hostname, 'must be a DNS name, not an IP address'))
    }
  }
  return errors
}
