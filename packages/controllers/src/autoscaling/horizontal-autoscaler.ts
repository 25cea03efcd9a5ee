import { formatKey, gvkOf, newNotFound, parseKey, parseSelector, type Selector, toTime } from '@kubewright/api'
import { errorText } from '@kubewright/base'
import { type ApiClient, NoMatchError } from '@kubewright/client'
import { HorizontalPodAutoscaler, Pod, type Scale } from '@kubewright/k8s'
import {
  type ControllerParts,
  changed,
  type KeyContext,
  type KeyController,
  type KeyOutcome,
  kindSource,
} from '@kubewright/runtime'
import { defineBuiltinController } from '../workload/define-builtin-controller.ts'
import { writeStatus } from '../workload/write-status.ts'
import { AutoscalerStatus } from './autoscaler-status.ts'
import { findScale, type ScaleReference } from './find-scale.ts'
import { givenMetrics } from './given-metrics.ts'
import { limitReplicas, type ScalingHistory, withChange } from './limit-replicas.ts'
import { MetricError, type Proposal, proposeReplicas } from './propose-replicas.ts'

const period = 15_000

/** Scales any object that has a scale subresource, by the metrics in its annotation; see `metricsAnnotation`. */
export const horizontalAutoscaler: KeyController = /* @__PURE__ */ defineBuiltinController({
  name: 'horizontal-pod-autoscaler-controller',
  reporter: 'horizontal-pod-autoscaler',
  kind: HorizontalPodAutoscaler,
  concurrency: 5,
  sources: [
    // Status updates do not trigger a reconcile: the next one is due when the sync period ends.
    kindSource(HorizontalPodAutoscaler, { predicates: [changed('spec', 'metadata.annotations')] }),
    kindSource(Pod, { map: () => [] }),
  ],
  start: (parts) => {
    const histories = new Map<string, ScalingHistory>()
    const selectors = new Map<string, Selector>()
    return (key, context) => reconcile(key, context, parts, histories, selectors)
  },
})

async function reconcile(
  key: string,
  context: KeyContext,
  { cluster: { api }, clock }: ControllerParts,
  histories: Map<string, ScalingHistory>,
  selectors: Map<string, Selector>,
): Promise<KeyOutcome | undefined> {
  const { client } = context
  const autoscaler = await client.find(HorizontalPodAutoscaler, parseKey(key))
  if (autoscaler === undefined) {
    histories.delete(key)
    selectors.delete(key)
    return undefined
  }
  const status = new AutoscalerStatus(autoscaler, toTime(clock.now()))
  const run = new AutoscalerRun(autoscaler, status, context, api, clock.now(), histories.get(key), selectors)
  await run.scale()
  histories.set(key, run.history)
  await writeStatus(client, HorizontalPodAutoscaler, autoscaler, status.value)
  return { requeueAfter: period }
}

/** One reconcile of an autoscaler. Failures are reported as conditions and retried in the next sync period. */
class AutoscalerRun {
  history: ScalingHistory
  readonly #autoscaler: HorizontalPodAutoscaler
  readonly #status: AutoscalerStatus
  readonly #context: KeyContext
  readonly #api: ApiClient
  readonly #now: number
  // The selector of each autoscaler's target, by autoscaler key: two autoscalers must not scale the same pods.
  readonly #selectors: Map<string, Selector>

  constructor(
    autoscaler: HorizontalPodAutoscaler,
    status: AutoscalerStatus,
    context: KeyContext,
    api: ApiClient,
    now: number,
    history: ScalingHistory | undefined,
    selectors: Map<string, Selector>,
  ) {
    this.#autoscaler = autoscaler
    this.#status = status
    this.#context = context
    this.#api = api
    this.#now = now
    this.#selectors = selectors
    this.history = history ?? { recommendations: [], changes: [] }
  }

  async scale(): Promise<void> {
    const scale = await this.#findScale()
    if (scale === undefined) return
    const current = scale.spec?.replicas ?? 0
    const { maxReplicas, minReplicas = 1 } = this.#autoscaler.spec
    // The initial size counts as a recommendation, so that scale-down stabilization also covers the first period.
    if (this.history.recommendations.length === 0) {
      this.history = { ...this.history, recommendations: [{ at: this.#now, value: current }] }
    }
    if (current === 0 && minReplicas !== 0) {
      const message = 'scaling is disabled since the replica count of the target is zero'
      this.#status.set('ScalingActive', false, 'ScalingDisabled', message)
      this.#status.replicas(current, 0, [])
    } else if (current > maxReplicas) {
      await this.#rescale(scale, maxReplicas, 'Current number of replicas above Spec.MaxReplicas')
    } else if (current < minReplicas) {
      await this.#rescale(scale, minReplicas, 'Current number of replicas below Spec.MinReplicas')
    } else {
      await this.#scaleByMetrics(scale, minReplicas)
    }
  }

  async #findScale(): Promise<Scale | undefined> {
    const { scaleTargetRef: target } = this.#autoscaler.spec
    const { namespace = '' } = this.#autoscaler.metadata
    const reference = { apiVersion: target.apiVersion ?? 'v1', kind: target.kind, name: target.name }
    try {
      const scale = await findScale(this.#api, reference, namespace, this.#context.signal)
      if (scale === undefined) {
        const { group, plural } = await this.#api.kind(gvkOf(reference), { signal: this.#context.signal })
        throw newNotFound({ group, resource: plural }, target.name)
      }
      const message = "the HPA controller was able to get the target's current scale"
      this.#status.set('AbleToScale', true, 'SucceededGetScale', message)
      return scale
    } catch (error) {
      this.#context.signal.throwIfAborted()
      const why = error instanceof NoMatchError ? noMatches(reference) : errorText(error)
      this.#warn('FailedGetScale', why)
      const message = `the HPA controller was unable to get the target's current scale: ${why}`
      this.#status.set('AbleToScale', false, 'FailedGetScale', message)
      return undefined
    }
  }

  async #scaleByMetrics(scale: Scale, min: number): Promise<void> {
    const current = scale.spec?.replicas ?? 0
    const { maxReplicas: max, behavior } = this.#autoscaler.spec
    const best = await this.#bestProposal(scale)
    if (best === undefined) return
    const { proposal, statuses } = best
    const facts = { current, desired: proposal.replicas, min, max, behavior, history: this.history, now: this.#now }
    const { replicas, ableToScale, limited, history } = limitReplicas(facts)
    this.history = history
    this.#status.set('AbleToScale', true, ableToScale.reason, ableToScale.message)
    this.#status.set('ScalingLimited', limited.status, limited.reason, limited.message)
    if (replicas === current) {
      this.#status.replicas(current, current, statuses)
    } else {
      const why = proposal.replicas > current ? `${proposal.metric} above target` : 'All metrics below target'
      await this.#rescale(scale, replicas, why, statuses)
    }
  }

  /** The highest proposal of all metrics. A metric that fails prevents scaling down, but not scaling up. */
  async #bestProposal(
    scale: Scale,
  ): Promise<{ readonly proposal: Proposal; readonly statuses: Proposal['status'][] } | undefined> {
    const { metrics = [] } = this.#autoscaler.spec
    const { namespace = '' } = this.#autoscaler.metadata
    const specReplicas = scale.spec?.replicas ?? 0
    const fail = (reason: string, event: string, message: string, text = message): undefined => {
      this.#warn(event, message)
      this.#status.set('ScalingActive', false, reason, text)
      this.#status.replicas(specReplicas, this.#autoscaler.status?.desiredReplicas ?? 0, statuses)
      return undefined
    }
    const statuses: Proposal['status'][] = []
    const { selector } = scale.status ?? {}
    if (selector === undefined || selector === '') {
      const text = "the HPA target's scale is missing a selector"
      return fail('InvalidSelector', 'SelectorRequired', 'selector is required', text)
    }
    const parsed = parseSelector(selector)
    const pods = await this.#context.client.list(Pod, { namespace, selector: parsed })
    const rivals = this.#rivalsFor(pods, parsed)
    if (rivals.length > 1) {
      const text = `pods by selector ${selector} are controlled by multiple HPAs: [${rivals.join(' ')}]`
      return fail('AmbiguousSelector', 'AmbiguousSelector', text)
    }
    const failures: MetricError[] = []
    let best: Proposal | undefined
    try {
      const given = givenMetrics(this.#autoscaler)
      const facts = { given, pods, specReplicas, statusReplicas: scale.status?.replicas ?? 0, namespace }
      for (const metric of metrics) {
        try {
          const proposal = proposeReplicas(metric, facts)
          statuses.push(proposal.status)
          if (best === undefined || proposal.replicas > best.replicas) best = proposal
        } catch (error) {
          if (!(error instanceof MetricError)) throw error
          this.#warn(error.reason, error.message)
          failures.push(error)
          // Like kube-controller-manager, keep an empty entry for the failed metric.
          statuses.push({ type: '' } as Proposal['status'])
        }
      }
    } catch (error) {
      return fail('InvalidMetrics', 'InvalidMetrics', errorText(error))
    }
    const [first] = failures
    if (first !== undefined && (best === undefined || best.replicas < specReplicas)) {
      const message = `invalid metrics (${failures.length} invalid out of ${metrics.length}), first error is: ${first.full}`
      const text = `the HPA was unable to compute the replica count: ${first.message}`
      return fail(first.reason, 'FailedComputeMetricsReplicas', message, text)
    }
    if (best === undefined) return undefined
    const text = `the HPA was able to successfully calculate a replica count from ${best.metric}`
    this.#status.set('ScalingActive', true, 'ValidMetricFound', text)
    return { proposal: best, statuses }
  }

  /** The keys of the autoscalers that select at least one of the pods, including this one. */
  #rivalsFor(pods: readonly Pod[], selector: Selector): string[] {
    const { namespace = '', name } = this.#autoscaler.metadata
    this.#selectors.set(formatKey(name, namespace), selector)
    const rivals = [...this.#selectors].filter(
      ([key, other]) =>
        parseKey(key).namespace === namespace && pods.some(({ metadata }) => other.matches(metadata.labels)),
    )
    return rivals.map(([key]) => key).sort()
  }

  async #rescale(
    scale: Scale,
    replicas: number,
    reason: string,
    statuses: readonly Proposal['status'][] = [],
  ): Promise<void> {
    const { scaleTargetRef: target } = this.#autoscaler.spec
    const current = scale.spec?.replicas ?? 0
    try {
      const kind = await this.#api.kind(gvkOf({ apiVersion: target.apiVersion ?? 'v1', kind: target.kind }))
      await this.#api.subresource(kind, 'scale').update({ ...scale, spec: { ...scale.spec, replicas } })
    } catch (error) {
      this.#context.signal.throwIfAborted()
      const text = errorText(error)
      this.#warn('FailedRescale', `New size: ${replicas}; reason: ${reason}; error: ${text}`)
      const message = `the HPA controller was unable to update the target scale: ${text}`
      this.#status.set('AbleToScale', false, 'FailedUpdateScale', message)
      this.#status.replicas(current, this.#autoscaler.status?.desiredReplicas ?? 0, statuses)
      return
    }
    const message = `the HPA controller was able to update the target scale to ${replicas}`
    this.#status.set('AbleToScale', true, 'SucceededRescale', message)
    const text = `New size: ${replicas}; reason: ${reason}`
    this.#context.events.record(this.#autoscaler, { type: 'Normal', reason: 'SuccessfulRescale', message: text })
    this.history = withChange(this.history, current, replicas, this.#now)
    this.#status.replicas(current, replicas, statuses, true)
  }

  #warn(reason: string, message: string): void {
    this.#context.events.record(this.#autoscaler, { type: 'Warning', reason, message })
  }
}

// The target is looked up without its version, so the message omits the version.
function noMatches({ apiVersion, kind }: ScaleReference): string {
  return `no matches for kind ${JSON.stringify(kind)} in group ${JSON.stringify(gvkOf({ apiVersion, kind }).group)}`
}
