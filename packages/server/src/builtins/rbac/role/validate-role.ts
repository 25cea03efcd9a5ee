import { type LabelSelectorLike, selectorFrom, validateLabelSelector } from '@kubewright/api'
import { type FieldError, FieldPath, invalid, required } from '@kubewright/schema'
import type { PolicyRule } from '../../../auth/rbac/policy-rule.ts'
import type { MutableObject } from '../../../resource/object.ts'

/** Checks the rules of a Role or a ClusterRole. */
export function validateRules(role: MutableObject, namespaced: boolean): FieldError[] {
  const rules = (role['rules'] as PolicyRule[] | null | undefined) ?? []
  return rules.flatMap((rule, i) => validateRule(rule, namespaced, FieldPath.of('rules').index(i)))
}

function validateRule(rule: PolicyRule, namespaced: boolean, path: FieldPath): FieldError[] {
  const errors: FieldError[] = []
  if (!rule.verbs?.length) errors.push(required(path.child('verbs'), 'verbs must contain at least one value'))
  if (rule.nonResourceURLs?.length) {
    const reject = (text: string): number =>
      errors.push(invalid(path.child('nonResourceURLs'), rule.nonResourceURLs, text))
    if (namespaced) reject('namespaced rules cannot apply to non-resource URLs')
    if (rule.apiGroups?.length || rule.resources?.length || rule.resourceNames?.length) {
      reject('rules cannot apply to both regular resources and non-resource URLs')
    }
    return errors
  }
  if (!rule.apiGroups?.length)
    errors.push(required(path.child('apiGroups'), 'resource rules must supply at least one api group'))
  if (!rule.resources?.length)
    errors.push(required(path.child('resources'), 'resource rules must supply at least one resource'))
  return errors
}

interface AggregationRule {
  readonly clusterRoleSelectors?: readonly LabelSelectorLike[] | null | undefined
}

/** Checks the aggregation rule of a ClusterRole. Label values that are already invalid in `old` may stay. */
export function validateAggregationRule(role: MutableObject, old?: MutableObject): FieldError[] {
  const rule = role['aggregationRule'] as AggregationRule | null | undefined
  if (!rule) return []
  const path = FieldPath.of('aggregationRule', 'clusterRoleSelectors')
  const selectors = rule.clusterRoleSelectors ?? []
  if (selectors.length === 0) {
    return [required(path, 'at least one clusterRoleSelector required if aggregationRule is non-nil')]
  }
  const before = (old?.['aggregationRule'] as AggregationRule | null | undefined)?.clusterRoleSelectors ?? []
  const allowInvalidLabelValueInSelector = before.some((selector) => validateLabelSelector(selector, path).length > 0)
  return selectors.flatMap((selector, i) => {
    const errors = validateLabelSelector(selector, path.index(i), { allowInvalidLabelValueInSelector })
    try {
      selectorFrom(selector)
    } catch {
      // As in pkg/apis/rbac/validation: the value of the error is the result of the failed conversion.
      errors.push(invalid(path.index(i), null, 'invalid label selector.'))
    }
    return errors
  })
}
