import type { ContainerStatus, Pod, PodTemplate, ReplicationController } from '@kubewright/k8s'
import type { TableDefinition, TableRowCondition } from '../../resource/table-definition.ts'
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

/** Tables of pods and of what makes them in the core group. */
export const podTables: Readonly<Record<string, TableDefinition>> = {
  '/pods': printer<Pod>(
    [
      nameColumn,
      textColumn('Ready', 'The aggregate readiness state of this pod for accepting traffic.'),
      textColumn('Status', 'The aggregate status of the containers in this pod.'),
      textColumn(
        'Restarts',
        'The number of times the containers in this pod have been restarted and when the last container in this pod has restarted.',
      ),
      ageColumn,
      wideColumn('IP', columnTexts['PodStatus.podIP']),
      wideColumn('Node', columnTexts['PodSpec.nodeName']),
      wideColumn('Nominated Node', columnTexts['PodStatus.nominatedNodeName']),
      wideColumn('Readiness Gates', columnTexts['PodSpec.readinessGates']),
    ],
    (pod, now) => {
      const { ready, total, reason, restarts, lastRestart } = summaryOf(pod)
      return [
        pod.metadata?.name ?? '',
        `${ready}/${total}`,
        reason,
        restarts !== 0 && lastRestart !== '' ? `${restarts} (${ageOf(lastRestart, now)} ago)` : String(restarts),
        ageOf(pod.metadata?.creationTimestamp, now),
        pod.status?.podIPs?.[0]?.ip || pod.status?.podIP || '<none>',
        pod.spec?.nodeName || '<none>',
        pod.status?.nominatedNodeName || '<none>',
        readinessGates(pod),
      ]
    },
    (pod) => completed[pod.status?.phase ?? ''],
  ),
  '/podtemplates': printer<PodTemplate>(
    [
      nameColumn,
      textColumn('Containers', 'Names of each container in the template.'),
      textColumn('Images', 'Images referenced by each container in the template.'),
      textColumn('Pod Labels', 'The labels for the pod template.'),
    ],
    ({ metadata, template }) => [
      metadata?.name ?? '',
      ...containerCells(template?.spec?.containers),
      labelsText(template?.metadata?.labels),
    ],
  ),
  '/replicationcontrollers': printer<ReplicationController>(
    [
      nameColumn,
      integerColumn('Desired', columnTexts['ReplicationControllerSpec.replicas']),
      integerColumn('Current', columnTexts['ReplicationControllerStatus.replicas']),
      integerColumn('Ready', columnTexts['ReplicationControllerStatus.readyReplicas']),
      ageColumn,
      ...containerColumns,
      wideColumn('Selector', columnTexts['ReplicationControllerSpec.selector']),
    ],
    ({ metadata, spec, status }, now) => [
      metadata?.name ?? '',
      spec?.replicas ?? 0,
      status?.replicas ?? 0,
      status?.readyReplicas ?? 0,
      ageOf(metadata?.creationTimestamp, now),
      ...containerCells(spec?.template?.spec?.containers),
      labelsText(spec?.selector),
    ],
  ),
}

const completed: Readonly<Record<string, readonly TableRowCondition[]>> = {
  Succeeded: [
    { type: 'Completed', status: 'True', reason: 'Succeeded', message: 'The pod has completed successfully.' },
  ],
  Failed: [{ type: 'Completed', status: 'True', reason: 'Failed', message: 'The pod failed.' }],
}

/** What the columns of a pod say. */
interface PodSummary {
  ready: number
  total: number
  reason: string
  restarts: number
  /** When a container ended that was started again; empty when there is none. */
  lastRestart: string
}

/** One word for the state of a pod: what keeps it from running, in the order in which its containers start. */
function summaryOf(pod: Loose<Pod>): PodSummary {
  const { spec, status } = pod
  const sidecars = new Set<string>()
  for (const { name, restartPolicy } of spec?.initContainers ?? []) {
    if (restartPolicy === 'Always') sidecars.add(name ?? '')
  }
  const summary: PodSummary = {
    ready: 0,
    total: (spec?.containers?.length ?? 0) + sidecars.size,
    reason: status?.reason || status?.phase || '',
    restarts: 0,
    lastRestart: '',
  }
  if (status?.conditions?.some(({ type, reason }) => type === 'PodScheduled' && reason === 'SchedulingGated')) {
    summary.reason = 'SchedulingGated'
  }
  const ofSidecars = { restarts: 0, lastRestart: '' }
  const initializing = addInitContainers(pod, sidecars, summary, ofSidecars)
  if (!initializing || conditionIs(pod, 'Initialized')) {
    // Once the pod runs, the restarts of its preparation no longer matter.
    Object.assign(summary, ofSidecars)
    addContainers(pod, summary)
  }
  if (pod.metadata?.deletionTimestamp) {
    if (status?.reason === 'NodeLost') summary.reason = 'Unknown'
    else if (status?.phase !== 'Succeeded' && status?.phase !== 'Failed') summary.reason = 'Terminating'
  }
  return summary
}

/** Adds the init containers up to the first that is not done; says whether there is such a one. */
function addInitContainers(
  { spec, status }: Loose<Pod>,
  sidecars: ReadonlySet<string>,
  summary: PodSummary,
  ofSidecars: Pick<PodSummary, 'restarts' | 'lastRestart'>,
): boolean {
  for (const [i, container] of (status?.initContainerStatuses ?? []).entries()) {
    const isSidecar = sidecars.has(container.name ?? '')
    addRestarts(summary, container)
    if (isSidecar) addRestarts(ofSidecars, container)
    const { terminated, waiting } = container.state ?? {}
    if (terminated && !terminated.exitCode) continue
    if (isSidecar && container.started) {
      if (container.ready) summary.ready++
      continue
    }
    if (terminated) summary.reason = `Init:${endOf(terminated)}`
    else if (waiting?.reason && waiting.reason !== 'PodInitializing') summary.reason = `Init:${waiting.reason}`
    else summary.reason = `Init:${i}/${spec?.initContainers?.length ?? 0}`
    return true
  }
  return false
}

function addContainers(pod: Loose<Pod>, summary: PodSummary): void {
  let running = false
  let failure = ''
  // From the last to the first: the first container has the last word.
  for (const container of [...(pod.status?.containerStatuses ?? [])].reverse()) {
    addRestarts(summary, container)
    const { waiting, terminated, running: started } = container.state ?? {}
    if (waiting?.reason) summary.reason = waiting.reason
    else if (terminated) {
      summary.reason = endOf(terminated)
      if (terminated.exitCode) failure = summary.reason
    } else if (container.ready && started) {
      running = true
      summary.ready++
    }
  }
  // A container that is done says nothing about a pod in which others still run or have failed.
  if (summary.reason !== 'Completed') return
  if (running && conditionIs(pod, 'Ready')) summary.reason = 'Running'
  else if (failure !== '') summary.reason = failure
  else if (running) summary.reason = 'NotReady'
}

function addRestarts(
  sum: Pick<PodSummary, 'restarts' | 'lastRestart'>,
  { restartCount, lastState }: Loose<ContainerStatus>,
): void {
  sum.restarts += restartCount ?? 0
  // RFC 3339 in UTC: the later time is the greater text.
  const ended = lastState?.terminated?.finishedAt ?? ''
  if (ended > sum.lastRestart) sum.lastRestart = ended
}

type Terminated = NonNullable<NonNullable<Loose<ContainerStatus>['state']>['terminated']>

function endOf({ reason, signal, exitCode }: Terminated): string {
  return reason || (signal ? `Signal:${signal}` : `ExitCode:${exitCode ?? 0}`)
}

function conditionIs({ status }: Loose<Pod>, type: string): boolean {
  return status?.conditions?.find((condition) => condition.type === type)?.status === 'True'
}

function readinessGates(pod: Loose<Pod>): string {
  const gates = pod.spec?.readinessGates ?? []
  if (gates.length === 0) return '<none>'
  const open = gates.filter(({ conditionType }) => conditionIs(pod, conditionType ?? ''))
  return `${open.length}/${gates.length}`
}
