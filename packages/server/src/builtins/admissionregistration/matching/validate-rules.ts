import { isPathSegmentName } from '@kubewright/base'
import type * as admission from '@kubewright/k8s/admissionregistration/v1'
import { duplicate, type FieldError, type FieldPath, invalid, required } from '@kubewright/schema'
import { addInvalid, unsupported } from '../../checks/field-checks.ts'
import { checkSelector } from '../../checks/strategy-checks.ts'
import type { Unchecked } from '../../typed/unchecked.ts'

type Rule = Unchecked<admission.RuleWithOperations>
/** The requests that a policy or a binding matches, as a client sends them. */
export type MatchResources = Unchecked<admission.MatchResources>

const operations = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE']
const scopes = ['*', 'Cluster', 'Namespaced']
const matchPolicies = ['Equivalent', 'Exact']

/** Fills the defaults of a rule. */
export function defaultRule(rule: Rule): void {
  rule.scope ??= '*'
}

/** Fills the defaults of the requests that a policy or a binding matches. */
export function defaultMatchResources(resources: MatchResources | undefined): void {
  if (!resources) return
  resources.matchPolicy ??= 'Equivalent'
  resources.namespaceSelector ??= {}
  resources.objectSelector ??= {}
  for (const rule of [...(resources.resourceRules ?? []), ...(resources.excludeResourceRules ?? [])]) defaultRule(rule)
}

/** Checks a rule of a webhook or a policy. */
export function validateRule(rule: Rule, path: FieldPath, errors: FieldError[]): void {
  const { operations: wanted = [], apiGroups = [], apiVersions = [], resources = [], scope } = rule
  checkWildcard(errors, path.child('operations'), wanted, 'operations')
  for (const [i, operation] of wanted.entries()) {
    if (!operations.includes(operation)) {
      errors.push(unsupported(path.child('operations').index(i), operation, operations))
    }
  }
  checkWildcard(errors, path.child('apiGroups'), apiGroups, 'API groups')
  checkWildcard(errors, path.child('apiVersions'), apiVersions, 'API versions')
  for (const [i, version] of apiVersions.entries()) {
    if (version === '') errors.push(required(path.child('apiVersions').index(i)))
  }
  validateResources(resources, path.child('resources'), errors)
  if (scope !== undefined && !scopes.includes(scope)) errors.push(unsupported(path.child('scope'), scope, scopes))
}

/** Checks that a list is not empty, and that `*` is its only item, if present. */
function checkWildcard(errors: FieldError[], path: FieldPath, values: readonly string[], what: string): void {
  if (values.length === 0) errors.push(required(path))
  if (values.length > 1 && values.includes('*')) {
    errors.push(invalid(path, values, `if '*' is present, must not specify other ${what}`))
  }
}

function validateResources(resources: readonly string[], path: FieldPath, errors: FieldError[]): void {
  if (resources.length === 0) errors.push(required(path))
  const allOfResource = new Set<string>()
  const ofAllResources = new Set<string>()
  // As in kube-apiserver: only the last resource without a subresource counts.
  let plain = false
  for (const [i, text] of resources.entries()) {
    const at = path.index(i)
    if (text === '') {
      errors.push(required(at))
      continue
    }
    const slash = text.indexOf('/')
    if (slash < 0) {
      plain = text !== '*'
      continue
    }
    const [resource, subresource] = [text.slice(0, slash), text.slice(slash + 1)]
    if (allOfResource.has(resource)) {
      errors.push(invalid(at, text, `if '${resource}/*' is present, must not specify ${text}`))
    }
    if (ofAllResources.has(subresource)) {
      errors.push(invalid(at, text, `if '*/${subresource}' is present, must not specify ${text}`))
    }
    if (subresource === '*') allOfResource.add(resource)
    if (resource === '*') ofAllResources.add(subresource)
  }
  if (resources.length > 1 && resources.includes('*/*')) {
    errors.push(invalid(path, resources, "if '*/*' is present, must not specify other resources"))
  }
  if (resources.includes('*') && plain) {
    const text = "if '*' is present, must not specify other resources without subresources"
    errors.push(invalid(path, resources, text))
  }
}

/** Checks the requests that a policy or a binding matches. */
export function validateMatchResources(resources: MatchResources, path: FieldPath, errors: FieldError[]): void {
  const { matchPolicy, namespaceSelector, objectSelector } = resources
  if (matchPolicy === undefined) errors.push(required(path.child('matchPolicy')))
  else if (!matchPolicies.includes(matchPolicy)) {
    errors.push(unsupported(path.child('matchPolicy'), matchPolicy, matchPolicies))
  }
  if (!namespaceSelector) errors.push(required(path.child('namespaceSelector')))
  checkSelector(errors, path.child('namespaceSelector'), namespaceSelector)
  if (!objectSelector) errors.push(required(path.child('objectSelector')))
  checkSelector(errors, path.child('objectSelector'), objectSelector)
  for (const list of ['resourceRules', 'excludeResourceRules'] as const) {
    for (const [i, rule] of (resources[list] ?? []).entries()) {
      const at = path.child(list).index(i)
      const names = new Set<string>()
      for (const [k, name] of (rule.resourceNames ?? []).entries()) {
        const namePath = at.child('resourceNames').index(k)
        addInvalid(errors, namePath, name, isPathSegmentName(name, false))
        if (names.has(name)) errors.push(duplicate(namePath, name))
        names.add(name)
      }
      validateRule(rule, at, errors)
    }
  }
}
