import type { KubeObject } from '@kubewright/api'
import { formatKey, toNameAndNamespace } from '@kubewright/api'
import { type Clock, type Logger, type Random, uuid } from '@kubewright/base'
import type { ApiClient, Key } from '@kubewright/client'
import {
  type Cluster,
  type Context,
  type Controller,
  type ControllerOf,
  createCluster,
  createMetricRegistry,
  type EventNote,
  managerMetrics,
  noTracer,
  type Outcome,
  objectController,
  type WatchObjects,
  type WatchSelection,
} from '@kubewright/runtime'

/** The result of one reconcile; see `TestEnv.step`. */
export interface StepResult<Status = unknown> {
  /** What `reconcile` or `cleanup` returned; undefined when it was not called, returned nothing or failed. */
  readonly outcome: Outcome<Status> | undefined
  /** What the reconcile threw; undefined when it succeeded. */
  readonly error: unknown
  /** The Events that it recorded. They are not written. */
  readonly events: readonly (EventNote & { readonly regarding: KubeObject })[]
}

/** The status type of a controller. */
export type StatusOf<C extends Controller> = C extends ControllerOf<infer _, infer Status> ? Status : unknown

/** Dependencies of {@link step}. */
export interface StepParts {
  readonly client: ApiClient
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  readonly namespace: string
  readonly operator: string
}

/** Reconciles one object once, with finalizer, children and status, as a manager would. Reads go to the server. */
export async function step(controller: Controller, key: Key, parts: StepParts): Promise<StepResult> {
  const { client, clock, random, log, namespace, operator } = parts
  const cluster = createCluster({ api: client, clock, random, log })
  const events: (EventNote & { readonly regarding: KubeObject })[] = []
  const recorder = { record: (regarding: KubeObject, note: EventNote) => void events.push({ ...note, regarding }) }
  let outcome: Outcome<unknown> | undefined
  const kept =
    (run: Controller['reconcile']): Controller['reconcile'] =>
    async (object: never, context: Context) =>
      (outcome = (await run(object, context)) ?? undefined)
  const observed: Controller = {
    ...controller,
    reconcile: kept(controller.reconcile),
    cleanup: controller.cleanup && kept(controller.cleanup),
  }
  const metrics = createMetricRegistry(managerMetrics)
  const reconcile = objectController(observed).start({
    cluster,
    clock,
    random,
    log,
    metrics,
    tracer: noTracer,
    events: recorder,
    operator,
  })
  const { name, namespace: given = namespace } = toNameAndNamespace(key)
  const text = formatKey(name, controller.kind.scope === 'Namespaced' ? given : undefined)
  try {
    await reconcile(text, {
      client: cluster.client,
      cluster,
      clusters: { get: (wanted) => (wanted === '' ? cluster : undefined), [Symbol.iterator]: () => [cluster].values() },
      watch: reading(cluster, given),
      signal: new AbortController().signal,
      now: () => new Date(clock.now()),
      log,
      events: recorder,
      causes: [],
      reconcileID: uuid(random),
      waitsFor: () => undefined,
    })
    return { outcome, error: undefined, events }
  } catch (error) {
    return { outcome: undefined, error, events }
  } finally {
    await cluster[Symbol.asyncDispose]()
  }
}

/** A watch of one reconcile only reads: no later change can reconcile the object again. */
function reading({ client }: Cluster, namespace: string): WatchObjects {
  return (async (kind: never, target: Key | WatchSelection) => {
    if (typeof target === 'string' || 'name' in target) {
      const { name, namespace: given = namespace } = toNameAndNamespace(target)
      return client.find(kind, { name, namespace: given })
    }
    return client.list(kind, { selector: target.selector, namespace: target.namespace })
  }) as WatchObjects
}
