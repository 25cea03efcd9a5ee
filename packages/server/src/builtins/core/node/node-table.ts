import type { Node } from '@kubewright/k8s'
import type { TableDefinition } from '../../../resource/table-definition.ts'
import {
  ageColumn,
  type Columns,
  defineTable,
  type Loose,
  nameColumn,
  textColumn,
  wideColumn,
} from '../../../table/columns.ts'

/** The columns of Nodes. */
export const nodeTable: TableDefinition = defineTable<Node>([
  nameColumn,
  textColumn('Status', 'Whether the node is ready and schedulable.', statusText),
  textColumn('Roles', 'Roles that the labels of the node name.', rolesText),
  ageColumn,
  textColumn('Version', 'Version of the kubelet.', ({ status }) => status?.nodeInfo?.kubeletVersion ?? ''),
  wideColumn('Internal-IP', 'Address inside the cluster.', (node) => addressOf(node, 'InternalIP')),
  wideColumn('External-IP', 'Address outside the cluster.', (node) => addressOf(node, 'ExternalIP')),
  infoColumn('OS-Image', 'Operating system.', 'osImage'),
  infoColumn('Kernel-Version', 'Version of the kernel.', 'kernelVersion'),
  infoColumn('Container-Runtime', 'Container runtime and its version.', 'containerRuntimeVersion'),
])

function infoColumn(
  name: string,
  description: string,
  field: 'osImage' | 'kernelVersion' | 'containerRuntimeVersion',
): Columns<Loose<Node>> {
  return wideColumn(name, description, ({ status }) => status?.nodeInfo?.[field] || '<unknown>')
}

function statusText({ spec, status }: Loose<Node>): string {
  const ready = status?.conditions?.findLast(({ type }) => type === 'Ready')
  const text = ready ? (ready.status === 'True' ? 'Ready' : 'NotReady') : 'Unknown'
  return spec?.unschedulable ? `${text},SchedulingDisabled` : text
}

/** Roles are the ends of label keys with a prefix, or the value of an older label. */
function rolesText({ metadata }: Loose<Node>): string {
  const prefix = 'node-role.kubernetes.io/'
  const roles = new Set<string>()
  for (const [key, value] of Object.entries(metadata?.labels ?? {})) {
    if (key.startsWith(prefix)) roles.add(key.slice(prefix.length))
    else if (key === 'kubernetes.io/role') roles.add(value ?? '')
  }
  roles.delete('')
  return [...roles].sort().join(',') || '<none>'
}

function addressOf({ status }: Loose<Node>, wanted: string): string {
  return status?.addresses?.find(({ type }) => type === wanted)?.address ?? '<none>'
}
