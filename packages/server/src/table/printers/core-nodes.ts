import type { Node } from '@kubewright/k8s'
import type { TableDefinition } from '../../resource/table-definition.ts'
import { columnTexts } from '../column-texts.ts'
import { ageColumn, type Loose, nameColumn, printer, textColumn, wideColumn } from '../columns.ts'
import { ageOf } from '../human.ts'

/** The table of nodes. */
export const nodeTables: Readonly<Record<string, TableDefinition>> = {
  '/nodes': printer<Node>(
    [
      nameColumn,
      textColumn('Status', 'The status of the node'),
      textColumn('Roles', 'The roles of the node'),
      ageColumn,
      textColumn('Version', columnTexts['NodeSystemInfo.kubeletVersion']),
      wideColumn('Internal-IP', columnTexts['NodeStatus.addresses']),
      wideColumn('External-IP', columnTexts['NodeStatus.addresses']),
      wideColumn('OS-Image', columnTexts['NodeSystemInfo.osImage']),
      wideColumn('Kernel-Version', columnTexts['NodeSystemInfo.kernelVersion']),
      wideColumn('Container-Runtime', columnTexts['NodeSystemInfo.containerRuntimeVersion']),
    ],
    (node, now) => {
      const info = node.status?.nodeInfo
      return [
        node.metadata?.name ?? '',
        statusText(node),
        rolesText(node),
        ageOf(node.metadata?.creationTimestamp, now),
        info?.kubeletVersion ?? '',
        addressOf(node, 'InternalIP'),
        addressOf(node, 'ExternalIP'),
        info?.osImage || '<unknown>',
        info?.kernelVersion || '<unknown>',
        info?.containerRuntimeVersion || '<unknown>',
      ]
    },
  ),
}

function statusText({ spec, status }: Loose<Node>): string {
  const ready = status?.conditions?.findLast(({ type }) => type === 'Ready')
  const text = ready ? (ready.status === 'True' ? 'Ready' : 'NotReady') : 'Unknown'
  return spec?.unschedulable ? `${text},SchedulingDisabled` : text
}

/** Roles are labels: one for each role, or the older label whose value is the role. */
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
