import { isPathSegmentName } from '@kubewright/base'
import type { FieldError } from '@kubewright/schema'
import type { EscalationGuard } from '../../auth/rbac/escalation.ts'
import { rbacGroup, type Subject } from '../../auth/rbac/rbac-policy.ts'
import type { MutableObject } from '../../resource/object.ts'
import type { Strategy } from '../../resource/strategy.ts'
import type { BuiltinTable } from '../builtin-resources.ts'
import { bindingTable } from './binding-table.ts'
import { validateAggregationRule, validateBinding, validateRoleRefUpdate, validateRules } from './validate-rbac.ts'

/** Roles and bindings; with a guard, users cannot grant more than they have. */
export function rbacResources(guard?: EscalationGuard): BuiltinTable {
  return {
    [`${rbacGroup}/roles`]: { strategy: roleStrategy(true, guard) },
    [`${rbacGroup}/clusterroles`]: { strategy: roleStrategy(false, guard) },
    [`${rbacGroup}/rolebindings`]: { table: bindingTable, strategy: bindingStrategy(true, guard) },
    [`${rbacGroup}/clusterrolebindings`]: { table: bindingTable, strategy: bindingStrategy(false, guard) },
  }
}

function roleStrategy(namespaced: boolean, guard: EscalationGuard | undefined): Strategy {
  const own = (role: MutableObject, old?: MutableObject): FieldError[] => [
    ...validateRules(role, namespaced),
    ...(namespaced ? [] : validateAggregationRule(role, old)),
  ]
  return {
    validateName: isPathSegmentName,
    allowCreateOnUpdate: true,
    prepareForCreate: normalizeRules,
    prepareForUpdate: normalizeRules,
    metadataOnUpdate: ['create', 'update'],
    validate: (role) => own(role),
    validateUpdate: (role, old) => own(role, old),
    ...(guard ? { beginCreate: (role, context) => guard.checkRole(role, undefined, context).then(nothing) } : {}),
    ...(guard ? { beginUpdate: (role, old, context) => guard.checkRole(role, old, context).then(nothing) } : {}),
  }
}

function bindingStrategy(namespaced: boolean, guard: EscalationGuard | undefined): Strategy {
  return {
    validateName: isPathSegmentName,
    allowCreateOnUpdate: true,
    setDefaults: setBindingDefaults,
    prepareForCreate: dropNoSubjects,
    prepareForUpdate: dropNoSubjects,
    metadataOnUpdate: ['create', 'update'],
    validate: (binding) => validateBinding(binding, namespaced),
    validateUpdate: (binding, old) => [...validateBinding(binding, namespaced), ...validateRoleRefUpdate(binding, old)],
    ...(guard
      ? { beginCreate: (binding, context) => guard.checkBinding(binding, undefined, context).then(nothing) }
      : {}),
    ...(guard
      ? { beginUpdate: (binding, old, context) => guard.checkBinding(binding, old, context).then(nothing) }
      : {}),
  }
}

/** These hooks reserve nothing that would have to be undone. */
function nothing(): undefined {
  return undefined
}

/** An empty list of rules is stored as none, and `verbs` is never absent. */
function normalizeRules(role: MutableObject): void {
  const rules = role['rules'] as Record<string, unknown>[] | null | undefined
  if (!rules || rules.length === 0) {
    role['rules'] = null
    return
  }
  for (const rule of rules) {
    for (const field of ['apiGroups', 'resources', 'resourceNames', 'nonResourceURLs']) {
      if (rule[field] === null || (rule[field] as unknown[] | undefined)?.length === 0) delete rule[field]
    }
    if (!(rule['verbs'] as unknown[] | null | undefined)?.length) rule['verbs'] = null
  }
}

function dropNoSubjects(binding: MutableObject): void {
  if (!(binding['subjects'] as unknown[] | null | undefined)?.length) delete binding['subjects']
}

/** Groups follow from kinds (pkg/apis/rbac/v1/defaults.go). */
function setBindingDefaults(binding: MutableObject): void {
  const roleRef = (binding['roleRef'] ??= { kind: '', name: '' }) as { apiGroup?: string; kind?: string; name?: string }
  roleRef.apiGroup ||= rbacGroup
  roleRef.kind ??= ''
  roleRef.name ??= ''
  for (const subject of (binding['subjects'] as { -readonly [K in keyof Subject]: Subject[K] }[] | null | undefined) ??
    []) {
    if (!subject.apiGroup && (subject.kind === 'User' || subject.kind === 'Group')) subject.apiGroup = rbacGroup
  }
}
