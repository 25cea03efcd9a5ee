import { formatLabelSelector, selectorFrom } from '@kubewright/api'
import type { ControllerRevision, DaemonSet, Deployment, ReplicaSet, StatefulSet } from '@kubewright/k8s'
import type { TableDefinition } from '../../resource/table-definition.ts'
import { columnTexts } from '../column-texts.ts'
import {
  ageColumn,
  containerColumns,
  integerColumn,
  type Loose,
  nameColumn,
  printer,
  textColumn,
  wideColumn,
} from '../columns.ts'
import { ageOf, containerCells, labelsText } from '../human.ts'
import { asSelector, type LooseSelector } from './loose-selector.ts'

/** Tables of the group apps. */
export const appsTables: Readonly<Record<string, TableDefinition>> = {
  'apps/deployments': printer<Deployment>(
    [
      nameColumn,
      textColumn('Ready', 'Number of the pod with ready state'),
      textColumn('Up-to-date', columnTexts['DeploymentStatus.updatedReplicas']),
      textColumn('Available', columnTexts['DeploymentStatus.availableReplicas']),
      ageColumn,
      ...containerColumns,
      wideColumn('Selector', columnTexts['DeploymentSpec.selector']),
    ],
    ({ metadata, spec, status }, now) => [
      metadata?.name ?? '',
      `${status?.readyReplicas ?? 0}/${spec?.replicas ?? 0}`,
      status?.updatedReplicas ?? 0,
      status?.availableReplicas ?? 0,
      ageOf(metadata?.creationTimestamp, now),
      ...containerCells(spec?.template?.spec?.containers),
      deploymentSelector(spec?.selector),
    ],
  ),
  'apps/replicasets': printer<ReplicaSet>(
    [
      nameColumn,
      integerColumn('Desired', columnTexts['ReplicaSetSpec.replicas']),
      integerColumn('Current', columnTexts['ReplicaSetStatus.replicas']),
      integerColumn('Ready', columnTexts['ReplicaSetStatus.readyReplicas']),
      ageColumn,
      ...containerColumns,
      wideColumn('Selector', columnTexts['ReplicaSetSpec.selector']),
    ],
    ({ metadata, spec, status }, now) => [
      metadata?.name ?? '',
      spec?.replicas ?? 0,
      status?.replicas ?? 0,
      status?.readyReplicas ?? 0,
      ageOf(metadata?.creationTimestamp, now),
      ...containerCells(spec?.template?.spec?.containers),
      formatLabelSelector(asSelector(spec?.selector)),
    ],
  ),
  'apps/daemonsets': printer<DaemonSet>(
    [
      nameColumn,
      integerColumn('Desired', columnTexts['DaemonSetStatus.desiredNumberScheduled']),
      integerColumn('Current', columnTexts['DaemonSetStatus.currentNumberScheduled']),
      integerColumn('Ready', columnTexts['DaemonSetStatus.numberReady']),
      integerColumn('Up-to-date', columnTexts['DaemonSetStatus.updatedNumberScheduled']),
      integerColumn('Available', columnTexts['DaemonSetStatus.numberAvailable']),
      textColumn('Node Selector', columnTexts['PodSpec.nodeSelector']),
      ageColumn,
      ...containerColumns,
      wideColumn('Selector', columnTexts['DaemonSetSpec.selector']),
    ],
    ({ metadata, spec, status }, now) => [
      metadata?.name ?? '',
      status?.desiredNumberScheduled ?? 0,
      status?.currentNumberScheduled ?? 0,
      status?.numberReady ?? 0,
      status?.updatedNumberScheduled ?? 0,
      status?.numberAvailable ?? 0,
      labelsText(spec?.template?.spec?.nodeSelector),
      ageOf(metadata?.creationTimestamp, now),
      ...containerCells(spec?.template?.spec?.containers),
      formatLabelSelector(asSelector(spec?.selector)),
    ],
  ),
  'apps/statefulsets': printer<StatefulSet>(
    [nameColumn, textColumn('Ready', 'Number of the pod with ready state'), ageColumn, ...containerColumns],
    ({ metadata, spec, status }, now) => [
      metadata?.name ?? '',
      `${status?.readyReplicas ?? 0}/${spec?.replicas ?? 0}`,
      ageOf(metadata?.creationTimestamp, now),
      ...containerCells(spec?.template?.spec?.containers),
    ],
  ),
  'apps/controllerrevisions': printer<ControllerRevision>(
    [
      nameColumn,
      textColumn('Controller', 'Controller of the object'),
      textColumn('Revision', columnTexts['ControllerRevision.revision']),
      ageColumn,
    ],
    (object, now) => [
      object.metadata?.name ?? '',
      controllerText(object),
      object.revision ?? 0,
      ageOf(object.metadata?.creationTimestamp, now),
    ],
  ),
}

/** Unlike the other kinds' selectors, an empty one stays empty. */
function deploymentSelector(selector: LooseSelector): string {
  try {
    return selectorFrom(asSelector(selector)).toString()
  } catch {
    return '<invalid>'
  }
}

/** The controller as kind, group and name: `statefulset.apps/web`. */
function controllerText({ metadata }: Loose<ControllerRevision>): string {
  const owner = metadata?.ownerReferences?.find(({ controller }) => controller)
  if (!owner) return '<none>'
  const [group, version] = (owner.apiVersion ?? '').split('/')
  const kind = (owner.kind ?? '').toLowerCase()
  return `${version === undefined ? kind : `${kind}.${group?.toLowerCase()}`}/${owner.name ?? ''}`
}
