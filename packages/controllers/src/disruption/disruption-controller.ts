import { findCondition, isConflict, keyOf, parseKey, selectorFrom, toTime } from '@kubewright/api'
import { errorText } from '@kubewright/base'
import { Pod, PodDisruptionBudget } from '@kubewright/k8s'
import {
  type ControllerParts,
  type KeyContext,
  type KeyController,
  type KeyOutcome,
  kindSource,
  when,
} from '@kubewright/runtime'
import { defineBuiltinController } from '../workload/define-builtin-controller.ts'
import { joinedSource } from '../workload/joined-source.ts'
import { knownTime } from '../workload/known-time.ts'
import { isPodTerminal } from '../workload/pod-state.ts'
import { writeStatus } from '../workload/write-status.ts'
import { budgetStatus, dependsOnScale, failedStatus } from './budget-status.ts'
import { expectedScale } from './expected-scale.ts'

const select = ({ spec }: PodDisruptionBudget) => selectorFrom(spec?.selector)

/** Pod events, mapped to the keys of the budgets that select the pod. */
const podsOfBudgets = joinedSource(Pod, [PodDisruptionBudget], (cached) => ({
  map: ({ metadata: { namespace = '', labels } }, { client }) => {
    const selecting = (budgets: readonly PodDisruptionBudget[]): string[] =>
      budgets.filter((budget) => select(budget).matches(labels)).map(keyOf)
    const known = cached(PodDisruptionBudget)?.list({ namespace })
    return known === undefined ? client.list(PodDisruptionBudget, { namespace }).then(selecting) : selecting(known)
  },
}))

/** Maintains the number of allowed disruptions of each PodDisruptionBudget, which the eviction API enforces. */
export const disruptionController: KeyController = /* @__PURE__ */ defineBuiltinController({
  name: 'disruption-controller',
  reporter: 'controllermanager',
  kind: PodDisruptionBudget,
  sources: [kindSource(PodDisruptionBudget), podsOfBudgets],
  start: (parts) => (key, context) => reconcile(key, context, parts),
})

async function reconcile(key: string, context: KeyContext, parts: ControllerParts): Promise<KeyOutcome | undefined> {
  const { client, log } = context
  const budget = await client.find(PodDisruptionBudget, parseKey(key))
  if (budget === undefined) return undefined
  try {
    return await count(budget, context, parts)
  } catch (error) {
    if (isConflict(error)) throw error
    log.error(error, 'Failed to sync PDB')
    await writeStatus(client, PodDisruptionBudget, budget, failedStatus(budget, errorText(error), parts.clock.now()))
    return undefined
  }
}

async function count(
  budget: PodDisruptionBudget,
  { client, events, signal }: KeyContext,
  { clock, cluster: { api } }: ControllerParts,
): Promise<KeyOutcome | undefined> {
  const { namespace = '', name } = budget.metadata
  const pods = await client.list(Pod, { namespace, selector: select(budget) })
  if (pods.length === 0) {
    events.record(budget, { type: 'Normal', reason: 'NoPods', message: 'No matching pods found' })
  }
  let scale: number | undefined
  if (dependsOnScale(budget)) {
    try {
      const { count: expected, unmanaged } = await expectedScale(pods, { client, api, signal })
      scale = expected
      if (unmanaged.length > 0) {
        const message = `Pods selected by this PodDisruptionBudget (selector: ${describe(budget)}) were found to be unmanaged. As a result, the status of the PDB cannot be calculated correctly, which may result in undefined behavior. To account for these pods please set ".spec.minAvailable" field of the PDB to an integer value.`
        events.record(budget, { type: 'Warning', reason: 'UnmanagedPods', message })
      }
    } catch (error) {
      const message = `Failed to calculate the number of expected pods: ${errorText(error)}`
      events.record(budget, { type: 'Warning', reason: 'CalculateExpectedPodCountFailed', message })
      throw error
    }
  }
  const { status, notDeleted, recheckIn } = budgetStatus({ budget, pods, expectedScale: scale, now: clock.now() })
  for (const pod of notDeleted) {
    const message = `Pod was expected by PDB ${namespace}/${name} to be deleted but it wasn't`
    events.record(pod, { type: 'Warning', reason: 'NotDeleted', message })
  }
  await writeStatus(client, PodDisruptionBudget, budget, status)
  return recheckIn === undefined ? undefined : { requeueAfter: recheckIn }
}

/** Formats the budget's label selector as Go does. */
function describe({ spec }: PodDisruptionBudget): string {
  const { matchLabels = {}, matchExpressions = [] } = spec?.selector ?? {}
  const labels = Object.keys(matchLabels)
    .sort()
    .map((name) => `${name}: ${matchLabels[name]},`)
  const expressions = matchExpressions.map(
    ({ key, operator, values = [] }) =>
      `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${values.join(' ')}],}`,
  )
  return `&LabelSelector{MatchLabels:map[string]string{${labels.join('')}},MatchExpressions:[]LabelSelectorRequirement{${expressions.map((one) => `${one},`).join('')}},}`
}

/** How long a pod may keep the condition DisruptionTarget without being deleted. */
const staleAfter = 2 * 60_000

function isMarked(pod: Pod): boolean {
  const mark = findCondition(pod.status?.conditions, 'DisruptionTarget')
  const alive = pod.metadata.deletionTimestamp === undefined && !isPodTerminal(pod)
  return alive && mark?.status === 'True' && mark.reason !== 'TerminationByKubelet'
}

/** Resets the condition DisruptionTarget of pods that were not deleted after all. */
export const staleDisruptionController: KeyController = /* @__PURE__ */ defineBuiltinController({
  name: 'disruption-controller-stale-pods',
  kind: Pod,
  sources: [kindSource(Pod, { predicates: [when(isMarked)] })],
  start:
    ({ clock }) =>
    async (key, { client }) => {
      const pod = await client.find(Pod, parseKey(key))
      if (pod === undefined || !isMarked(pod)) return undefined
      const conditions = pod.status?.conditions ?? []
      const since = knownTime(findCondition(conditions, 'DisruptionTarget')?.lastTransitionTime)
      const left = since === undefined ? 0 : since + staleAfter - clock.now()
      if (left > 0) return { requeueAfter: left }
      const cleared = {
        type: 'DisruptionTarget',
        observedGeneration: pod.metadata.generation ?? 0,
        status: 'False' as const,
        lastTransitionTime: toTime(clock.now()),
      }
      await writeStatus(client, Pod, pod, {
        ...pod.status,
        conditions: conditions.map((one) => (one.type === 'DisruptionTarget' ? cleared : one)),
      })
      return undefined
    },
})
