import type { Awaitable } from '@kubewright/base'
import type { CelEnvironment } from '@kubewright/cel'
import type * as admission from '@kubewright/k8s/admissionregistration/v1'
import { admissionEnvironment } from '../../builtins/admissionregistration/matching/admission-expressions.ts'
import type { ResourceCache } from '../../cache/resource-cache.ts'
import type { WebhookTarget } from '../../outgoing/webhook-client.ts'
import type { ObjectAccess } from '../../registry/object-access.ts'
import type { StoredObject } from '../../resource/stored-object.ts'
import { type Condition, compileCondition } from '../expressions/condition.ts'
import { lazySelector, type MatchCriteria } from '../requests/match-request.ts'
import type { ReviewVersion } from './decode-review.ts'

/** A webhook of a configuration, compiled. */
export interface Webhook {
  readonly name: string
  readonly configuration: string
  /** Unique, unlike the name: a configuration may have several webhooks of the same name. */
  readonly id: string
  readonly target: WebhookTarget
  readonly criteria: MatchCriteria
  readonly conditions: readonly Condition[]
  readonly failurePolicy: string
  readonly sideEffects: string
  readonly timeoutSeconds: number
  readonly reinvokes: boolean
  /** Undefined when the webhook supports no version that the server supports. */
  readonly reviewVersion: ReviewVersion | undefined
}

type WebhookSpec = admission.ValidatingWebhook & { readonly reinvocationPolicy?: string | undefined }

/**
 * The webhooks of all configurations of one kind, ordered by the name of the configuration. Each version of a configuration is
 * compiled once.
 */
export class WebhookConfigurations {
  readonly #parts: ObjectAccess
  readonly #plural: string
  readonly #compiled = new WeakMap<StoredObject, readonly Webhook[]>()
  #cache: ResourceCache | undefined
  #seen = ''
  #webhooks: readonly Webhook[] = []

  constructor(parts: ObjectAccess, plural: 'mutatingwebhookconfigurations' | 'validatingwebhookconfigurations') {
    this.#parts = parts
    this.#plural = plural
  }

  /** All webhooks in the current state of the cache. */
  list(): Awaitable<readonly Webhook[]> {
    if (this.#cache) return this.#listed(this.#cache)
    return this.#open().then((cache) => (cache ? this.#listed((this.#cache = cache)) : []))
  }

  #listed(cache: ResourceCache): readonly Webhook[] {
    const state = `${cache.epoch} ${cache.end}`
    if (state !== this.#seen) {
      this.#webhooks = cache.list(cache.prefix).flatMap((stored) => this.#compile(stored))
      this.#seen = state
    }
    return this.#webhooks
  }

  async #open(): Promise<ResourceCache | undefined> {
    const resource = this.#parts.resources.find('admissionregistration.k8s.io', 'v1', this.#plural)
    return resource && this.#parts.registry.feed.cache(resource.storage.prefix)
  }

  #compile(stored: StoredObject): readonly Webhook[] {
    let webhooks = this.#compiled.get(stored)
    if (!webhooks) {
      const { name = '' } = stored.object.metadata
      const specs = (stored.object['webhooks'] ?? []) as readonly WebhookSpec[]
      const seen = new Map<string, number>()
      webhooks = specs.map((spec) => {
        const count = seen.get(spec.name) ?? 0
        seen.set(spec.name, count + 1)
        return webhookOf(spec, name, `${name}/${spec.name}/${count}`)
      })
      this.#compiled.set(stored, webhooks)
    }
    return webhooks
  }
}

function webhookOf(spec: WebhookSpec, configuration: string, id: string): Webhook {
  const environment = (): CelEnvironment => admissionEnvironment({ params: false, authorizer: true })
  return {
    name: spec.name,
    configuration,
    id,
    target: spec.clientConfig as WebhookTarget,
    criteria: {
      rules: spec.rules ?? [],
      excludeRules: [],
      matchPolicy: spec.matchPolicy ?? 'Equivalent',
      namespaceSelector: lazySelector(spec.namespaceSelector),
      objectSelector: lazySelector(spec.objectSelector),
    },
    conditions: (spec.matchConditions ?? []).map(({ expression }) => compileCondition(expression, environment())),
    failurePolicy: spec.failurePolicy ?? 'Fail',
    sideEffects: spec.sideEffects,
    timeoutSeconds: spec.timeoutSeconds ?? 10,
    reinvokes: spec.reinvocationPolicy === 'IfNeeded',
    reviewVersion: spec.admissionReviewVersions.find(isReviewVersion),
  }
}

function isReviewVersion(version: string): version is ReviewVersion {
  return version === 'v1' || version === 'v1beta1'
}
