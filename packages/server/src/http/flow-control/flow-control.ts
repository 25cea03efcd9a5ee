import type { ApiResponse } from '@kubewright/api'
import type { Awaitable, Clock, MetricDefinition, MetricRegistry } from '@kubewright/base'
import type * as flowcontrol from '@kubewright/k8s/flowcontrol/v1'
import type { PathHandler } from '../../request/path-handler.ts'
import type { RequestContext } from '../../request/request-context.ts'
import type { RequestFilter } from '../../request/request-filter.ts'
import { respondText } from '../../request/respond.ts'
import { tooMany } from '../filters/max-in-flight.ts'
import { isLongRunning } from '../filters/request-class.ts'
import { releaseAfter } from '../filters/response-end.ts'
import { type CompiledSchema, compileSchemas } from './classify-request.ts'
import { PriorityLevel, SeatPool } from './priority-level.ts'

const levelLabels = ['priority_level']
const gauge = (name: string, help: string): MetricDefinition => ({
  name: `apiserver_flowcontrol_${name}`,
  type: 'gauge',
  help,
  labels: levelLabels,
})
const executingRequests = gauge('current_executing_requests', 'Requests that run.')
const executingSeats = gauge('current_executing_seats', 'Seats that running requests use.')
const waitingRequests = gauge('current_inqueue_requests', 'Requests that wait in a queue.')
const nominalSeats = gauge('nominal_limit_seats', 'Seats of the level, without borrowed ones.')
const lowerSeats = gauge('lower_limit_seats', 'Seats that other levels cannot borrow.')
const dispatched: MetricDefinition = {
  name: 'apiserver_flowcontrol_dispatched_requests_total',
  type: 'counter',
  help: 'Requests that were started.',
  labels: ['flow_schema', 'priority_level'],
}
const rejected: MetricDefinition = {
  name: 'apiserver_flowcontrol_rejected_requests_total',
  type: 'counter',
  help: 'Requests that were rejected with 429.',
  labels: ['flow_schema', 'priority_level', 'reason'],
}
const waitSeconds: MetricDefinition = {
  name: 'apiserver_flowcontrol_request_wait_duration_seconds',
  type: 'histogram',
  help: 'Time that requests waited in a queue. Requests that did not wait are not counted.',
  labels: ['execute', 'flow_schema', 'priority_level'],
  buckets: [0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30],
}

/** Lists of this many objects take one seat, as in kube-apiserver. */
const objectsPerSeat = 100
const maxSeats = 10

/** Parts that {@link FlowControl} uses. */
export interface FlowControlParts {
  readonly clock: Clock
  /** The number of objects that a list would read. */
  readonly objectCount: (context: RequestContext) => number
  readonly metrics: MetricRegistry
}

/** A schema with its level and what metrics count of it. */
interface Flow {
  readonly schema: CompiledSchema
  readonly level: PriorityLevel
  readonly headers: Readonly<Record<string, string>>
  readonly labels: Readonly<Record<'flow_schema' | 'priority_level', string>>
  dispatched: number
  /** How many of them the metrics have. */
  counted: number
}

/**
 * API priority and fairness (apiserver/pkg/util/flowcontrol): FlowSchemas assign every request to a priority level, and levels share the seats
 * of the server. Before the first configuration, no request is limited.
 */
export class FlowControl {
  readonly #parts: FlowControlParts
  readonly #pool = new SeatPool()
  readonly #levels = new Map<string, PriorityLevel>()
  readonly #total: number
  #flows: Flow[] = []

  /** `total` is the number of requests that may run at the same time. */
  constructor(parts: FlowControlParts, total: number) {
    this.#parts = parts
    this.#total = total
    parts.metrics.define([
      executingRequests,
      executingSeats,
      waitingRequests,
      nominalSeats,
      lowerSeats,
      dispatched,
      rejected,
      waitSeconds,
    ])
  }

  /** Applies FlowSchemas and priority levels. Schemas whose level does not exist are skipped. */
  configure(
    schemas: readonly flowcontrol.FlowSchema[],
    levels: readonly flowcontrol.PriorityLevelConfiguration[],
  ): void {
    this.#countDispatched()
    const sharesOf = ({ spec }: flowcontrol.PriorityLevelConfiguration): number =>
      (spec?.type === 'Exempt' ? spec.exempt?.nominalConcurrencyShares : spec?.limited?.nominalConcurrencyShares) ?? 0
    const allShares = levels.reduce((sum, level) => sum + sharesOf(level), 0) || 1
    const current: PriorityLevel[] = []
    for (const config of levels) {
      const name = config.metadata?.name ?? ''
      let level = this.#levels.get(name)
      if (!level) this.#levels.set(name, (level = new PriorityLevel(name, this.#pool, this.#parts.clock)))
      level.configure(config, Math.ceil((this.#total * sharesOf(config)) / allShares))
      current.push(level)
    }
    this.#pool.configure(current, this.#total)
    this.#flows = compileSchemas(schemas).flatMap((schema) => {
      const level = current.find(({ name }) => name === schema.level)
      return level ? [flowOf(schema, level)] : []
    })
  }

  /** Classifies every request, and lets it run when its priority level has seats. */
  readonly filter: RequestFilter = (context, next) => {
    const flow = this.#flowOf(context)
    if (!flow) return next()
    for (const name in flow.headers) context.responseHeaders[name] = flow.headers[name]!
    const { level, schema } = flow
    // Watches hold no seats. kube-apiserver limits their initial lists.
    if (isLongRunning(context.info)) return next()
    const seats = level.isExempt ? 1 : this.#seatsOf(context)
    const turn = level.take(() => `${schema.name},${schema.distinguish(context)}`, seats, context.request)
    const run = (): Awaitable<ApiResponse> => {
      flow.dispatched++
      // A response that is not read keeps its memory, so it keeps its seats as well.
      return releaseAfter(context.request, next, () => level.release(seats))
    }
    return turn ? this.#await(turn, flow, run) : run()
  }

  /** Runs a request when it is its turn, or rejects it. */
  async #await(
    turn: NonNullable<ReturnType<PriorityLevel['take']>>,
    { labels }: Flow,
    run: () => Awaitable<ApiResponse>,
  ): Promise<ApiResponse> {
    const { clock, metrics } = this.#parts
    const begin = clock.monotonic()
    const reason = await turn
    const waited = (clock.monotonic() - begin) / 1000
    metrics.observe(waitSeconds.name, { execute: String(reason === undefined), ...labels }, waited)
    if (reason === undefined) return run()
    metrics.add(rejected.name, { ...labels, reason }, 1)
    return tooMany()
  }

  /** Serves a table of the priority levels. */
  readonly paths: PathHandler = ({ info, request }) => {
    if (info.path !== '/debug/api_priority_and_fairness/dump_priority_levels' || request.method !== 'GET')
      return undefined
    const columns =
      'PriorityLevelName, ActiveQueues, IsIdle, IsQuiescing, WaitingRequests, ExecutingRequests, DispatchedRequests, RejectedRequests, TimedoutRequests, CancelledRequests'
    const rows = [...this.#pool.levels]
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .map((level) => {
        const { rejected: no } = level
        const isIdle = level.waiting + level.executingRequests === 0
        const counts = [level.waiting, level.executingRequests, level.dispatched]
        const refused = [no['queue-full'] + no['concurrency-limit'], no['time-out'], no.cancelled]
        return [level.name, level.activeQueues, isIdle, false, ...counts, ...refused].join(', ')
      })
    return respondText(200, `${[columns, ...rows].join('\n')}\n`)
  }

  /** Updates the metrics that are not counted per request. */
  collect(): void {
    const { metrics } = this.#parts
    this.#countDispatched()
    for (const level of this.#pool.levels) {
      const labels = { priority_level: level.name }
      metrics.set(executingRequests.name, labels, level.executingRequests)
      metrics.set(executingSeats.name, labels, level.executing)
      metrics.set(waitingRequests.name, labels, level.waiting)
      metrics.set(nominalSeats.name, labels, level.nominal)
      metrics.set(lowerSeats.name, labels, level.guaranteed)
    }
  }

  #countDispatched(): void {
    for (const flow of this.#flows) {
      if (flow.dispatched === flow.counted) continue
      this.#parts.metrics.add(dispatched.name, flow.labels, flow.dispatched - flow.counted)
      flow.counted = flow.dispatched
    }
  }

  #flowOf({ user, info }: RequestContext): Flow | undefined {
    for (const flow of this.#flows) if (flow.schema.matches(user, info)) return flow
    return this.#flows.find(({ schema }) => schema.name === 'catch-all')
  }

  #seatsOf(context: RequestContext): number {
    if (context.info.verb !== 'list') return 1
    return Math.min(maxSeats, Math.max(1, Math.ceil(this.#parts.objectCount(context) / objectsPerSeat)))
  }
}

function flowOf(schema: CompiledSchema, level: PriorityLevel): Flow {
  return {
    schema,
    level,
    headers: {
      'x-kubernetes-pf-flowschema-uid': schema.uid,
      'x-kubernetes-pf-prioritylevel-uid': level.uid,
    },
    labels: { flow_schema: schema.name, priority_level: level.name },
    dispatched: 0,
    counted: 0,
  }
}
