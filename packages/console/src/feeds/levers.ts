import type { RestClient } from '@kubewright/client'
import { problemText } from '../cluster/problem-text.ts'
import { objectPath } from '../cluster/resource-url.ts'
import type { LeverAction, LeverKinds, LeversView, PausedView } from '../wire/lever-view.ts'
import type { PageResponse } from '../wire/messages.ts'
import type { ObjectName } from '../wire/names.ts'
import type { OperatorView } from '../wire/operator-view.ts'
import type { ClusterLevers } from './cluster-levers.ts'
import type { OperatorSource } from './operator-source.ts'

/** Options of {@link Levers}. */
export interface LeversOptions {
  readonly cluster?: ClusterLevers | undefined
  readonly operators: readonly OperatorSource[]
  readonly rest: RestClient
}

const unavailable = 'This cluster does not offer that lever'
// Simulated containers with these annotations are not ready, and ignore the request to stop until their grace period ends.
const frozen = { 'kubewright.dev/ready': 'false', 'kubewright.dev/stop-after': '24h' }

/** Causes trouble on purpose, and keeps track of it for the banner of the page. */
export class Levers {
  readonly #options: LeversOptions
  readonly #listeners = new Set<() => void>()
  #paused: readonly PausedView[] = []

  constructor(options: LeversOptions) {
    this.#options = options
  }

  get kinds(): LeverKinds {
    const { cluster, operators } = this.#options
    return {
      pods: cluster?.crashPod !== undefined,
      requests: cluster !== undefined,
      controllers: operators.some(({ control }) => control !== undefined),
      time: cluster?.time !== undefined,
    }
  }

  view(): LeversView {
    const { faults = [], time } = this.#options.cluster ?? {}
    return { faults, paused: this.#paused, time: time && new Date(time.now()).toISOString() }
  }

  /** Calls the listener after every change of {@link view}. */
  listen(listener: () => void): Disposable {
    const own = (): void => listener()
    this.#listeners.add(own)
    const cluster = this.#options.cluster?.listen(own)
    return {
      [Symbol.dispose]: () => {
        this.#listeners.delete(own)
        cluster?.[Symbol.dispose]()
      },
    }
  }

  /** Reads from the reports of operators which controllers are paused. Operators that do not answer count as before. */
  observe(operators: readonly OperatorView[]): void {
    const silent = new Set(operators.filter(({ problem }) => problem !== undefined).map(({ index }) => index))
    const paused = operators.flatMap(({ index, name, controllers }) =>
      controllers.filter(({ isPaused }) => isPaused).map((one) => ({ operator: index, name, controller: one.name })),
    )
    this.#setPaused([...this.#paused.filter(({ operator }) => silent.has(operator)), ...paused])
  }

  /** Performs an action. A failure becomes the error of the response. */
  async perform(action: LeverAction): Promise<PageResponse> {
    try {
      return await this.#perform(action)
    } catch (error) {
      return { error: problemText(error) }
    }
  }

  async #perform(action: LeverAction): Promise<PageResponse> {
    const { cluster } = this.#options
    if (action.type === 'control') return this.#control(action)
    if (cluster === undefined) return { error: unavailable }
    switch (action.type) {
      case 'crash': {
        if (cluster.crashPod === undefined) return { error: unavailable }
        cluster.crashPod(`${action.object.namespace}/${action.object.name}`)
        return {}
      }
      case 'freeze':
      case 'unfreeze':
        if (cluster.crashPod === undefined) return { error: unavailable }
        return this.#freeze(action.object, action.type === 'freeze')
      case 'cutWatches':
        return { count: cluster.cutWatches(action.resource) }
      case 'failWrites': {
        const { resource, status, count } = action
        cluster.failWrites({ group: resource.group, plural: resource.plural, status, count })
        return {}
      }
      case 'disarm':
        cluster.disarm(action.id)
        return {}
      case 'advance':
        if (cluster.time === undefined) return { error: 'The time of this cluster is real' }
        await cluster.time.advance(action.millis)
        return {}
    }
  }

  async #freeze(object: ObjectName, isFrozen: boolean): Promise<PageResponse> {
    const annotations = Object.fromEntries(
      Object.entries(frozen).map(([name, value]) => [name, isFrozen ? value : null]),
    )
    await this.#options.rest.json({
      method: 'PATCH',
      path: objectPath(object),
      query: new URLSearchParams({ fieldManager: 'kubewright-console' }),
      body: JSON.stringify({ metadata: { annotations } }),
      contentType: 'application/merge-patch+json',
    })
    return {}
  }

  async #control({ operator, controller, command }: Extract<LeverAction, { type: 'control' }>): Promise<PageResponse> {
    const source = this.#options.operators[operator]
    if (source?.control === undefined) return { error: 'This operator cannot be paused' }
    await source.control(controller, command)
    const others = this.#paused.filter((one) => one.operator !== operator || one.controller !== controller)
    this.#setPaused(command === 'resume' ? others : [...others, { operator, name: source.name, controller }])
    return {}
  }

  #setPaused(paused: readonly PausedView[]): void {
    if (JSON.stringify(paused) === JSON.stringify(this.#paused)) return
    this.#paused = paused
    for (const listener of [...this.#listeners]) listener()
  }
}
