import {
  formatRFC3339,
  goQuote,
  instantFromMillis,
  isDNS1035Label,
  isDNS1123Subdomain,
  isPathSegmentName,
  isValidPortNum,
} from '@kubewright/base'
import type * as apiregistration from '@kubewright/k8s/apiregistration/v1'
import { type FieldError, invalid, required } from '@kubewright/schema'
import type { MutableObject } from '../../../resource/object.ts'
import { withStatus } from '../../../resource/status-strategy.ts'
import { base64Length } from '../../checks/base64-length.ts'
import { addInvalid, unsupported } from '../../checks/field-checks.ts'
import { metadataPath, part, specPath, statusPath } from '../../checks/strategy-checks.ts'
import { type BuiltinDefinition, defineBuiltin } from '../../define-builtin.ts'
import type { Unchecked } from '../../typed/unchecked.ts'
import { apiServiceTable } from './api-service-table.ts'

type Spec = Unchecked<apiregistration.APIServiceSpec>
type Status = Unchecked<apiregistration.APIServiceStatus>

/** APIServices, which name the server of each group version (kube-aggregator/pkg/registry/apiservice). */
export const apiServices: BuiltinDefinition = defineBuiltin({
  group: 'apiregistration.k8s.io',
  resource: 'apiservices',
  table: apiServiceTable,
  ...withStatus(
    {
      validateName: isPathSegmentName,
      anyFinalizer: true,
      allowUnconditionalUpdate: false,
      setDefaults: (object) => {
        const { service } = part<Spec>(object, 'spec')
        if (service) service.port ??= 443
      },
      prepareForCreate: (object, { now }) => {
        if (!part<Spec>(object, 'spec').service) object['status'] = { conditions: [localCondition(now)] }
      },
      validate,
      validateUpdate: validate,
    },
    {
      hasTable: false,
      keeps: ['spec', 'metadata.labels', 'metadata.annotations', 'metadata.finalizers', 'metadata.ownerReferences'],
      resets: ['spec', 'metadata'],
      validateUpdate: (object) => {
        const errors: FieldError[] = []
        const known = ['True', 'False', 'Unknown']
        for (const [i, { status = '' }] of (part<Status>(object, 'status').conditions ?? []).entries()) {
          const path = statusPath.child('conditions').index(i).child('status')
          if (!known.includes(status)) errors.push(unsupported(path, status, known))
        }
        return errors
      },
    },
  ),
})

/** The condition of a group version that this server serves itself. */
function localCondition(now: number): object {
  return {
    type: 'Available',
    status: 'True',
    lastTransitionTime: formatRFC3339(instantFromMillis(now)),
    reason: 'Local',
    message: 'Local APIServices are always available',
  }
}

function validate(object: MutableObject): FieldError[] {
  const errors: FieldError[] = []
  const spec = part<Spec>(object, 'spec')
  const { group = '', version = '', groupPriorityMinimum = 0, versionPriority = 0 } = spec
  const expected = `${version}.${group}`
  const text = `must be \`spec.version+"."+spec.group\`: ${goQuote(expected)}`
  // The rule applies to generateName too, although no generated name can comply.
  for (const field of ['generateName', 'name'] as const) {
    const { [field]: name = '' } = object.metadata
    // A missing name has an error of its own.
    if (name === expected || name === '') continue
    if (isPathSegmentName(name, field === 'generateName').length > 0) continue
    errors.push(invalid(metadataPath.child(field), name, text))
  }
  const groupPath = specPath.child('group')
  if (group !== '') addInvalid(errors, groupPath, group, isDNS1123Subdomain(group))
  else if (version !== 'v1') {
    errors.push(required(groupPath, 'only v1 may have an empty group and it better be legacy kube'))
  }
  addInvalid(errors, specPath.child('version'), version, isDNS1035Label(version))
  if (groupPriorityMinimum <= 0 || groupPriorityMinimum > 20_000) {
    const text = 'must be positive and less than 20000'
    errors.push(invalid(specPath.child('groupPriorityMinimum'), groupPriorityMinimum, text))
  }
  if (versionPriority <= 0 || versionPriority > 1000) {
    errors.push(invalid(specPath.child('versionPriority'), versionPriority, 'must be positive and less than 1000'))
  }
  validateService(spec, errors)
  return errors
}

function validateService({ service, caBundle, insecureSkipTLSVerify }: Spec, errors: FieldError[]): void {
  const insecurePath = specPath.child('insecureSkipTLSVerify')
  if (!service) {
    if (caBundle) {
      const text = 'local APIServices may not have a caBundle'
      errors.push(invalid(specPath.child('caBundle'), `${base64Length(caBundle)} bytes`, text))
    }
    if (insecureSkipTLSVerify) {
      errors.push(invalid(insecurePath, true, 'local APIServices may not have insecureSkipTLSVerify'))
    }
    return
  }
  const path = specPath.child('service')
  for (const field of ['namespace', 'name'] as const) if (!service[field]) errors.push(required(path.child(field)))
  const problems = isValidPortNum(service.port ?? 0)
  if (problems.length > 0) {
    errors.push(invalid(path.child('port'), service.port ?? 0, `port is not valid: ${problems.join(', ')}`))
  }
  if (insecureSkipTLSVerify && caBundle) {
    errors.push(invalid(insecurePath, true, 'may not be true if caBundle is present'))
  }
}
