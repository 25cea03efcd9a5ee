import { isPathSegmentName } from '@kubewright/base'
import type { EscalationGuard } from '../../../auth/rbac/escalation.ts'
import { rbacGroup, type Subject } from '../../../auth/rbac/rbac-policy.ts'
import type { MutableObject } from '../../../resource/object.ts'
import type { Strategy } from '../../../resource/strategy.ts'
import { type BuiltinDefinition, defineBuiltin } from '../../define-builtin.ts'
import { escalationHooks } from '../escalation-hooks.ts'
import { bindingTable } from './binding-table.ts'
import { validateBinding, validateRoleRefUpdate } from './validate-binding.ts'

/** RoleBindings (pkg/registry/rbac/rolebinding). */
export const roleBindings: BuiltinDefinition = defineBuiltin({
  group: rbacGroup,
  resource: 'rolebindings',
  table: bindingTable,
  strategy: bindingStrategy(true),
  withServer: ({ access }) => ({ strategy: bindingStrategy(true, access?.escalation) }),
})

/** ClusterRoleBindings (pkg/registry/rbac/clusterrolebinding). */
export const clusterRoleBindings: BuiltinDefinition = defineBuiltin({
  group: rbacGroup,
  resource: 'clusterrolebindings',
  table: bindingTable,
  strategy: bindingStrategy(false),
  withServer: ({ access }) => ({ strategy: bindingStrategy(false, access?.escalation) }),
})

/** With a guard, users cannot grant roles whose permissions they do not have. */
function bindingStrategy(namespaced: boolean, guard?: EscalationGuard): Strategy {
  return {
    validateName: isPathSegmentName,
    allowCreateOnUpdate: true,
    setDefaults,
    prepareForCreate: dropEmptySubjects,
    prepareForUpdate: dropEmptySubjects,
    metadataOnUpdate: ['create', 'update'],
    validate: (binding) => validateBinding(binding, namespaced),
    validateUpdate: (binding, old) => [...validateBinding(binding, namespaced), ...validateRoleRefUpdate(binding, old)],
    ...escalationHooks(guard && ((binding, old, context) => guard.checkBinding(binding, old, context))),
  }
}

function dropEmptySubjects(binding: MutableObject): void {
  if (!(binding['subjects'] as unknown[] | null | undefined)?.length) delete binding['subjects']
}

/** The API group of roles, users and groups is that of RBAC (pkg/apis/rbac/v1/defaults.go). */
function setDefaults(binding: MutableObject): void {
  const roleRef = (binding['roleRef'] ??= { kind: '', name: '' }) as {
    apiGroup?: string | undefined
    kind?: string | undefined
    name?: string | undefined
  }
  roleRef.apiGroup ||= rbacGroup
  roleRef.kind ??= ''
  roleRef.name ??= ''
  const subjects = (binding['subjects'] ?? []) as { -readonly [K in keyof Subject]: Subject[K] }[]
  for (const subject of subjects) {
    if (!subject.apiGroup && (subject.kind === 'User' || subject.kind === 'Group')) subject.apiGroup = rbacGroup
  }
}
