import { type LabelSelectorLike, selectorFrom, validateLabelSelector } from '@kubewright/api'
import { isDNS1123Subdomain, isPathSegmentName } from '@kubewright/base'
import { type FieldError, FieldPath, invalid, notSupported, required } from '@kubewright/schema'
import type { PolicyRule } from '../../auth/rbac/policy-rule.ts'
import { type RoleRef, rbacGroup, type Subject } from '../../auth/rbac/rbac-policy.ts'
import type { MutableObject } from '../../resource/object.ts'

/** The rules of a Role or ClusterRole. */
export function validateRules(role: MutableObject, namespaced: boolean): FieldError[] {
  const rules = (role['rules'] as PolicyRule[] | null | undefined) ?? []
  return rules.flatMap((rule, i) => validateRule(rule, namespaced, FieldPath.of('rules').index(i)))
}

function validateRule(rule: PolicyRule, namespaced: boolean, path: FieldPath): FieldError[] {
  const errors: FieldError[] = []
  if (!rule.verbs?.length) errors.push(required(path.child('verbs'), 'verbs must contain at least one value'))
  if (rule.nonResourceURLs?.length) {
    const refuse = (text: string): number =>
      errors.push(invalid(path.child('nonResourceURLs'), rule.nonResourceURLs, text))
    if (namespaced) refuse('namespaced rules cannot apply to non-resource URLs')
    if (rule.apiGroups?.length || rule.resources?.length || rule.resourceNames?.length) {
      refuse('rules cannot apply to both regular resources and non-resource URLs')
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
  readonly clusterRoleSelectors?: readonly LabelSelectorLike[] | null
}

/** The aggregation rule of a ClusterRole; values that were invalid before may stay so. */
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
      // The value is the selector that could not be made.
      errors.push(invalid(path.index(i), null, 'invalid label selector.'))
    }
    return errors
  })
}

/** Role reference and subjects of a RoleBinding or ClusterRoleBinding. */
export function validateBinding(binding: MutableObject, namespaced: boolean): FieldError[] {
  const errors: FieldError[] = []
  const roleRef = (binding['roleRef'] as RoleRef | null | undefined) ?? {}
  const path = FieldPath.of('roleRef')
  if (roleRef.apiGroup !== rbacGroup)
    errors.push(notSupported(path.child('apiGroup'), roleRef.apiGroup ?? '', [rbacGroup]))
  const kinds = namespaced ? ['Role', 'ClusterRole'] : ['ClusterRole']
  if (!kinds.includes(roleRef.kind ?? '')) errors.push(notSupported(path.child('kind'), roleRef.kind ?? '', kinds))
  if (!roleRef.name) errors.push(required(path.child('name')))
  else
    for (const text of isPathSegmentName(roleRef.name, false))
      errors.push(invalid(path.child('name'), roleRef.name, text))
  const subjects = (binding['subjects'] as Subject[] | null | undefined) ?? []
  for (const [i, subject] of subjects.entries()) {
    errors.push(...validateSubject(subject, namespaced, FieldPath.of('subjects').index(i)))
  }
  return errors
}

function validateSubject(subject: Subject, namespaced: boolean, path: FieldPath): FieldError[] {
  const errors: FieldError[] = []
  const { kind = '', name = '', apiGroup = '', namespace = '' } = subject
  if (name === '') errors.push(required(path.child('name')))
  if (kind === 'ServiceAccount') {
    if (name !== '') for (const text of isDNS1123Subdomain(name)) errors.push(invalid(path.child('name'), name, text))
    if (apiGroup !== '') errors.push(notSupported(path.child('apiGroup'), apiGroup, ['']))
    if (!namespaced && namespace === '') errors.push(required(path.child('namespace')))
  } else if (kind === 'User' || kind === 'Group') {
    if (apiGroup !== rbacGroup) errors.push(notSupported(path.child('apiGroup'), apiGroup, [rbacGroup]))
  } else {
    errors.push(notSupported(path.child('kind'), kind, ['ServiceAccount', 'User', 'Group']))
  }
  return errors
}

/** A binding is for one role for ever. */
export function validateRoleRefUpdate(binding: MutableObject, old: MutableObject): FieldError[] {
  const [now, before] = [binding, old].map((object) => {
    const { apiGroup = '', kind = '', name = '' } = (object['roleRef'] as RoleRef | null | undefined) ?? {}
    // The text shows the field names of the internal type.
    return { APIGroup: apiGroup, Kind: kind, Name: name }
  })
  return JSON.stringify(now) === JSON.stringify(before)
    ? []
    : [invalid(FieldPath.of('roleRef'), now, 'cannot change roleRef')]
}
