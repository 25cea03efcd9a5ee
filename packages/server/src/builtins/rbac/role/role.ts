import { isPathSegmentName } from '@kubewright/base'
import type { FieldError } from '@kubewright/schema'
import type { EscalationGuard } from '../../../auth/rbac/escalation.ts'
import { rbacGroup } from '../../../auth/rbac/rbac-policy.ts'
import type { MutableObject } from '../../../resource/object.ts'
import type { Strategy } from '../../../resource/strategy.ts'
import { type BuiltinDefinition, defineBuiltin } from '../../define-builtin.ts'
import { escalationHooks } from '../escalation-hooks.ts'
import { validateAggregationRule, validateRules } from './validate-role.ts'

/** Roles (pkg/registry/rbac/role). */
export const roles: BuiltinDefinition = defineBuiltin({
  group: rbacGroup,
  resource: 'roles',
  strategy: roleStrategy(true),
  withServer: ({ access }) => ({ strategy: roleStrategy(true, access?.escalation) }),
})

/** ClusterRoles (pkg/registry/rbac/clusterrole). */
export const clusterRoles: BuiltinDefinition = defineBuiltin({
  group: rbacGroup,
  resource: 'clusterroles',
  strategy: roleStrategy(false),
  withServer: ({ access }) => ({ strategy: roleStrategy(false, access?.escalation) }),
})

/** With a guard, users cannot grant permissions that they do not have. */
function roleStrategy(namespaced: boolean, guard?: EscalationGuard): Strategy {
  const validate = (role: MutableObject, old?: MutableObject): FieldError[] => [
    ...validateRules(role, namespaced),
    ...(namespaced ? [] : validateAggregationRule(role, old)),
  ]
  return {
    validateName: isPathSegmentName,
    allowCreateOnUpdate: true,
    prepareForCreate: normalizeRules,
    prepareForUpdate: normalizeRules,
    metadataOnUpdate: ['create', 'update'],
    validate: (role) => validate(role),
    validateUpdate: (role, old) => validate(role, old),
    ...escalationHooks(guard && ((role, old, context) => guard.checkRole(role, old, context))),
  }
}

/** Gives rules their stored form: empty lists are absent, except for `rules` and `verbs`, which are null. */
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
