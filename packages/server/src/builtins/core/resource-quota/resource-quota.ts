import { nameIsDNSSubdomain } from '@kubewright/base'
import type * as core from '@kubewright/k8s/core/v1'
import { type FieldError, FieldPath, invalid, required } from '@kubewright/schema'
import { goShown } from '../../../codec/json/go-value.ts'
import type { MutableObject } from '../../../resource/object.ts'
import { withStatus } from '../../../resource/status-strategy.ts'
import { isStandardQuotaResource } from '../../checks/resource-names.ts'
import { type BuiltinDefinition, defineBuiltin } from '../../define-builtin.ts'
import type { Unchecked } from '../../typed/unchecked.ts'
import type { ResourceList } from '../pod/pod-types.ts'
import { defaultResourceList, quantityOf } from '../pod/resources/resource-list.ts'
import { checkResourceName, checkResourceQuantity } from '../pod/validation/containers/validate-resources.ts'
import { resourceQuotaTable } from './resource-quota-table.ts'

type Spec = Unchecked<core.ResourceQuotaSpec>
type Status = Unchecked<core.ResourceQuotaStatus>

const specPath = FieldPath.of('spec')
const statusPath = FieldPath.of('status')
const existsOnly = ['BestEffort', 'NotBestEffort', 'Terminating', 'NotTerminating', 'CrossNamespacePodAffinity']
const scopeNames = [...existsOnly, 'PriorityClass', 'VolumeAttributesClass']
const podResources = ['pods', 'cpu', 'memory', 'limits.cpu', 'limits.memory', 'requests.cpu', 'requests.memory']
const oppositeScopes = [
  ['BestEffort', 'NotBestEffort'],
  ['Terminating', 'NotTerminating'],
] as const

function specOf(quota: MutableObject): Spec {
  return (quota['spec'] ?? {}) as Spec
}

function setDefaults(quota: MutableObject): void {
  const status = (quota['status'] ?? {}) as Status
  for (const list of [specOf(quota).hard, status.hard, status.used]) defaultResourceList(list)
}

function checkAmounts(list: ResourceList | undefined, path: FieldPath, errors: FieldError[]): void {
  for (const [name, amount] of Object.entries(list ?? {})) {
    const at = path.key(name)
    checkResourceName(errors, at, name)
    if (!name.includes('/') && !isStandardQuotaResource(name)) {
      errors.push(invalid(at, name, 'must be a standard resource for quota'))
    }
    checkResourceQuantity(errors, at, name, quantityOf(amount))
  }
}

/** Whether a scope applies to a resource. */
function scopeFits(scope: string, resource: string): boolean {
  if (scope === 'BestEffort') return resource === 'pods'
  if (scope === 'VolumeAttributesClass') return ['persistentvolumeclaims', 'requests.storage'].includes(resource)
  return !scopeNames.includes(scope) || podResources.includes(resource)
}

function validateSpec(spec: Spec): FieldError[] {
  const errors: FieldError[] = []
  checkAmounts(spec.hard, specPath.child('hard'), errors)
  const standard = Object.keys(spec.hard ?? {})
    .filter(isStandardQuotaResource)
    .sort()
  const scopes = spec.scopes ?? []
  const at = specPath.child('scopes')
  for (const scope of scopes) {
    if (!scopeNames.includes(scope)) errors.push(invalid(at, scopes, 'unsupported scope'))
    for (const name of standard) {
      if (!scopeFits(scope, name)) errors.push(invalid(at, scopes, 'unsupported scope applied to resource'))
    }
  }
  for (const pair of oppositeScopes) {
    if (pair.every((scope) => scopes.includes(scope))) errors.push(invalid(at, scopes, 'conflicting scopes'))
  }
  if (spec.scopeSelector) validateSelector(spec, standard, errors)
  return errors
}

function validateSelector(spec: Spec, standard: readonly string[], errors: FieldError[]): void {
  const at = specPath.child('scopeSelector', 'matchExpressions')
  const expressions = spec.scopeSelector?.matchExpressions ?? []
  for (const { scopeName = '', operator = '', values = [] } of expressions) {
    if (!scopeNames.includes(scopeName)) errors.push(invalid(at.child('scopeName'), scopeName, 'unsupported scope'))
    for (const name of standard) {
      if (scopeFits(scopeName, name)) continue
      const shown = goShown('ScopeSelector', spec.scopeSelector ?? {})
      errors.push(invalid(at, shown, 'unsupported scope applied to resource'))
    }
    if (existsOnly.includes(scopeName) && operator !== 'Exists') {
      const text =
        "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity"
      errors.push(invalid(at.child('operator'), operator, text))
    }
    if (operator === 'In' || operator === 'NotIn') {
      if (values.length === 0) {
        const text = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"
        errors.push(required(at.child('values'), text))
      }
    } else if (operator === 'Exists' || operator === 'DoesNotExist') {
      if (values.length > 0) {
        const text = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector"
        errors.push(invalid(at.child('values'), values, text))
      }
    } else errors.push(invalid(at.child('operator'), operator, 'not a valid selector operator'))
  }
  const names = expressions.map(({ scopeName }) => scopeName)
  for (const pair of oppositeScopes) {
    if (pair.every((scope) => names.includes(scope)))
      errors.push(invalid(at, spec.scopes ?? null, 'conflicting scopes'))
  }
}

function validateStatus(quota: MutableObject): FieldError[] {
  const errors: FieldError[] = []
  const status = (quota['status'] ?? {}) as Status
  checkAmounts(status.hard, statusPath.child('hard'), errors)
  checkAmounts(status.used, statusPath.child('used'), errors)
  return errors
}

/** Warns about a quota of requests above the quota of limits, which can never be used up. */
function warnings(quota: MutableObject): string[] {
  const hard: ResourceList = specOf(quota).hard ?? {}
  const found: string[] = []
  for (const resource of ['cpu', 'memory', 'storage', 'ephemeral-storage']) {
    const plain = resource === 'cpu' || resource === 'memory'
    const request = hard[`requests.${resource}`] === undefined && plain ? resource : `requests.${resource}`
    const limit = `limits.${resource}`
    if (hard[request] === undefined || hard[limit] === undefined) continue
    const [requested, bound] = [quantityOf(hard[request]), quantityOf(hard[limit])]
    if (requested.cmp(bound) <= 0) continue
    found.push(`ResourceQuota ${request} (${requested}) should be less than ${limit} (${bound})`)
  }
  return found
}

/** ResourceQuotas (pkg/registry/core/resourcequota). */
export const resourceQuotas: BuiltinDefinition = defineBuiltin({
  group: '',
  resource: 'resourcequotas',
  table: resourceQuotaTable,
  ...withStatus(
    {
      validateName: nameIsDNSSubdomain,
      returnDeletedObject: true,
      setDefaults,
      validate: (quota) => [...validateSpec(specOf(quota)), ...validateStatus(quota)],
      metadataOnUpdate: ['update'],
      validateUpdate: (quota, old) => {
        const errors = validateSpec(specOf(quota))
        const scopes = new Set(specOf(quota).scopes)
        const before = new Set(specOf(old).scopes)
        if (scopes.size !== before.size || [...scopes].some((scope) => !before.has(scope))) {
          errors.push(invalid(specPath.child('scopes'), specOf(quota).scopes ?? null, 'field is immutable'))
        }
        return errors
      },
      warningsOnCreate: warnings,
    },
    { validateUpdate: validateStatus },
  ),
})
