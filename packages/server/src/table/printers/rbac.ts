import type { ClusterRoleBinding, RoleBinding } from '@kubewright/k8s'
import type { TableDefinition } from '../../resource/table-definition.ts'
import { columnTexts } from '../column-texts.ts'
import { ageColumn, type Loose, nameColumn, printer, textColumn, wideColumn } from '../columns.ts'
import { ageOf } from '../human.ts'

/** Tables of bindings; roles have the default one. */
export const rbacTables: Readonly<Record<string, TableDefinition>> = {
  'rbac.authorization.k8s.io/rolebindings': bindings('roleBinding', columnTexts['RoleBinding.roleRef']),
  'rbac.authorization.k8s.io/clusterrolebindings': bindings(
    'clusterRoleBinding',
    columnTexts['ClusterRoleBinding.roleRef'],
  ),
}

function bindings(kind: string, role: string): TableDefinition {
  return printer<RoleBinding | ClusterRoleBinding>(
    [
      nameColumn,
      textColumn('Role', role),
      ageColumn,
      wideColumn('Users', `Users in the ${kind}`),
      wideColumn('Groups', `Groups in the ${kind}`),
      wideColumn('ServiceAccounts', `ServiceAccounts in the ${kind}`),
    ],
    (binding, now) => [
      binding.metadata?.name ?? '',
      `${binding.roleRef?.kind ?? ''}/${binding.roleRef?.name ?? ''}`,
      ageOf(binding.metadata?.creationTimestamp, now),
      subjectsText(binding, 'User'),
      subjectsText(binding, 'Group'),
      subjectsText(binding, 'ServiceAccount'),
    ],
  )
}

function subjectsText({ subjects }: Loose<RoleBinding | ClusterRoleBinding>, wanted: string): string {
  return (subjects ?? [])
    .filter(({ kind }) => kind === wanted)
    .map(({ name, namespace }) => (wanted === 'ServiceAccount' ? `${namespace ?? ''}/${name ?? ''}` : (name ?? '')))
    .join(', ')
}
