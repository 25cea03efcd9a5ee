import type { Random } from '@kubewright/base'
import type { RequestSpec, WebhookSpec } from '../../conformance/case-format.ts'

/**
 * A sequence of requests. Both servers receive it in a namespace of the same name. In a request, `{uid}` and `{rv}` stand for the
 * metadata of the last object of the same server, `{continue}` for that of its last list, `{webhook}` for the URL of the webhooks, and
 * `{caBundle}` for their CA.
 */
export interface Scenario {
  readonly kind: string
  readonly namespace: string
  readonly requests: readonly RequestSpec[]
  /** Requests that prepare the scenario. Their responses are not compared. */
  readonly setup?: readonly RequestSpec[]
  /** A request that is repeated after the setup until it has the status, because servers activate policies and resources in the background. */
  readonly ready?: { readonly request: RequestSpec; readonly status: number }
  /** The paths of cluster-scoped objects to delete at the end. */
  readonly created?: readonly string[]
  /** Webhooks that the test serves for this scenario, by name. The calls of admission webhooks are compared. */
  readonly webhooks?: Readonly<Record<string, WebhookSpec>>
  /** Watches that are open during the requests. Their events are compared at the end. */
  readonly watches?: readonly RequestSpec[]
}

/** Generates scenarios of one kind. It draws from the stream only; `id` makes names unique. */
export type MakeScenario = (random: Random, id: string) => Scenario
