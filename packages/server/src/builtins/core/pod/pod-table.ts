import type { ContainerStatus, Pod } from '@kubewright/k8s'
import type { TableDefinition, TableRowCondition } from '../../../resource/table-definition.ts'
import { ageColumn, defineTable, type Loose, nameColumn, wideColumn } from '../../../table/columns.ts'
import { ageOf } from '../../../table/human.ts'

/** The columns of Pods. */
export const podTable: TableDefinition = defineTable<Pod>(
  [
    nameColumn,
    {
      definitions: [
        { name: 'Ready', type: 'string', description: 'Ready containers out of all containers.' },
        { name: 'Status', type: 'string', description: 'State of the pod in one word.' },
        {
          name: 'Restarts',
          type: 'string',
          description: 'Number of container restarts, and the time since the last one.',
        },
      ],
      cells: (pod, now) => {
        const { ready, total, reason, restarts, lastRestart } = summaryOf(pod)
        return [
          `${ready}/${total}`,
          reason,
          restarts !== 0 && lastRestart !== '' ? `${restarts} (${ageOf(lastRestart, now)} ago)` : String(restarts),
        ]
      },
    },
    ageColumn,
    wideColumn('IP', 'Address of the pod.', ({ status }) => status?.podIPs?.[0]?.ip || status?.podIP || '<none>'),
    wideColumn('Node', 'Node that runs the pod.', ({ spec }) => spec?.nodeName || '<none>'),
    wideColumn(
      'Nominated Node',
      'Node on which preemption makes room for the pod.',
      ({ status }) => status?.nominatedNodeName || '<none>',
    ),
    wideColumn('Readiness Gates', 'Readiness gates that are open, out of all gates.', readinessGates),
  ],
  { conditions: ({ status }) => completed.get(status?.phase ?? '') },
)

const completed: ReadonlyMap<string, readonly TableRowCondition[]> = new Map([
  [
    'Succeeded',
    [{ type: 'Completed', status: 'True', reason: 'Succeeded', message: 'The pod has completed successfully.' }],
  ],
  ['Failed', [{ type: 'Completed', status: 'True', reason: 'Failed', message: 'The pod failed.' }]],
])

/** The values that several columns of a pod need. */
interface PodSummary {
  ready: number
  total: number
  reason: string
  restarts: number
  /** When a container terminated that has restarted since; empty when no container has. */
  lastRestart: string
}

/** Summarizes the state of a pod in one word: the first problem in the order in which its containers start. */
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
    // The restarts of ordinary init containers do not count once the pod runs.
    Object.assign(summary, ofSidecars)
    addContainers(pod, summary)
  }
  if (pod.metadata?.deletionTimestamp) {
    if (status?.reason === 'NodeLost') summary.reason = 'Unknown'
    else if (status?.phase !== 'Succeeded' && status?.phase !== 'Failed') summary.reason = 'Terminating'
  }
  return summary
}

/** Adds the init containers up to the first one that is not done. Returns whether there is such a container. */
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
  // In reverse order, so that the reason of the first container overwrites the others.
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
  // The reason of a completed container does not describe a pod in which others run or have failed.
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
  // Times in RFC 3339 and UTC sort as texts.
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
