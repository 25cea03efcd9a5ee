import type { ClusterRoleBinding, RoleBinding } from '@kubewright/k8s'
import type { TableDefinition } from '../../../resource/table-definition.ts'
import { ageColumn, defineTable, type Loose, nameColumn, textColumn, wideColumn } from '../../../table/columns.ts'

type AnyBinding = RoleBinding | ClusterRoleBinding

/** The columns of RoleBindings and ClusterRoleBindings. */
export const bindingTable: TableDefinition = defineTable<AnyBinding>([
  nameColumn,
  textColumn('Role', 'Role that the binding grants.', ({ roleRef }) => `${roleRef?.kind ?? ''}/${roleRef?.name ?? ''}`),
  ageColumn,
  wideColumn('Users', 'Users with the role.', (binding) => subjectsText(binding, 'User')),
  wideColumn('Groups', 'Groups with the role.', (binding) => subjectsText(binding, 'Group')),
  wideColumn('ServiceAccounts', 'Service accounts with the role.', (binding) =>
    subjectsText(binding, 'ServiceAccount'),
  ),
])

function subjectsText({ subjects }: Loose<AnyBinding>, wanted: string): string {
  return (subjects ?? [])
    .filter(({ kind }) => kind === wanted)
    .map(({ name, namespace }) => (wanted === 'ServiceAccount' ? `${namespace ?? ''}/${name ?? ''}` : (name ?? '')))
    .join(', ')
}
