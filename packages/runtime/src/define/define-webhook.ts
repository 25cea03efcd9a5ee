import type { AnyKind, Kind, LabelSelector } from '@kubewright/api'
import type { Awaitable, Logger } from '@kubewright/base'
import type { Reader } from '@kubewright/client'
import type { PathOf } from '@kubewright/schema'
import type { AccessRule } from '../controller/access-rule.ts'
import { checkRules } from './check-definition.ts'
import type { Issue } from './issue.ts'
import {
  defaultingRegistration,
  validationRegistration,
  type WebhookOperation,
  type WebhookRegistration,
} from './webhook-registration.ts'

/** The context of an admission request. */
export interface Review<Read> {
  readonly operation: WebhookOperation
  /** The subresource of the request, such as `status`; undefined for requests to the object itself. */
  readonly subresource: string | undefined
  /** The object before the request; undefined on create. */
  readonly old?: Read | undefined
  readonly user: {
    readonly name: string
    readonly groups: readonly string[]
    readonly uid?: string | undefined
    readonly extra?: Readonly<Record<string, readonly string[]>> | undefined
  }
  /** Whether the request is a dry run, which stores nothing. A webhook with side effects must skip them. */
  readonly dryRun: boolean
  /** The CreateOptions, UpdateOptions or DeleteOptions of the request. */
  readonly options: Readonly<Record<string, unknown>>
  /** The namespace of the object; undefined for cluster-scoped kinds. */
  readonly namespace: string | undefined
  /**
   * Reads from the API server, not from a cache, because a check for uniqueness must not use stale data. Two concurrent
   * requests can still both pass such a check, since neither object is stored yet; a reconciler should detect that.
   */
  readonly client: Reader
  /** The current time of the webhook server's clock, as a new Date. Test environments with virtual time control it. */
  readonly now: () => Date
  /** A logger with the object, the operation, the user and the uid of the review. */
  readonly log: Logger
  /** Aborts when the API server no longer waits for the response. */
  readonly signal: AbortSignal
}

// The fields that an issue may refer to.
type Reviewed<Read> = Omit<Read, 'apiVersion' | 'kind'>

/** The path of an issue: a field, or a path into a list or map, such as `spec.ports[0].name`. */
export type IssuePath<Read> = PathOf<Reviewed<Read>> | `${PathOf<Reviewed<Read>>}[${string}`

/** The result of a validation. Falsy entries are dropped. */
export type Issues<Read> = readonly (Issue<IssuePath<Read>> | false | null | undefined)[]

/** How a webhook is registered with the API server. Omitted options use the API server's defaults. */
export interface WebhookRegistrationOptions {
  /** @default `m<kind>-<version>.kb.io` */
  readonly defaultingName?: string | undefined
  /** @default `/mutate-<group>-<version>-<kind>`, with dashes for dots */
  readonly defaultingPath?: string | undefined
  /** @default `v<kind>-<version>.kb.io` */
  readonly validationName?: string | undefined
  /** @default `/validate-<group>-<version>-<kind>`, with dashes for dots */
  readonly validationPath?: string | undefined
  /**
   * The operations for which the webhook is called; `default` is never called for DELETE. @default CREATE and UPDATE, and
   * DELETE when there is a `validateDelete`
   */
  readonly operations?: readonly WebhookOperation[] | undefined
  /** The operations for which `default` is called, when they are not those of the validation. @default `operations` */
  readonly defaultingOperations?: readonly ('CREATE' | 'UPDATE')[] | undefined
  /** What happens when the webhook cannot be called. @default 'Fail' */
  readonly failurePolicy?: 'Fail' | 'Ignore' | undefined
  /** Whether requests in other versions of the kind are converted and sent to the webhook too. @default 'Equivalent' */
  readonly matchPolicy?: 'Exact' | 'Equivalent' | undefined
  /** The time limit of the response, 1 to 30. @default 10 */
  readonly timeoutSeconds?: number | undefined
  /** @default 'None' */
  readonly sideEffects?: 'None' | 'NoneOnDryRun' | undefined
  /** Whether defaulting runs again after a later webhook changed the object. @default 'Never' */
  readonly reinvocationPolicy?: 'Never' | 'IfNeeded' | undefined
  /** Only objects in namespaces with these labels. @default all */
  readonly namespaceSelector?: LabelSelector | undefined
  /** Only objects with these labels. @default all */
  readonly objectSelector?: LabelSelector | undefined
  /** Further conditions in CEL. */
  readonly matchConditions?: readonly { readonly name: string; readonly expression: string }[] | undefined
}

/** Options of {@link defineWebhook}. */
export interface WebhookOptions<Read, Write> extends WebhookRegistrationOptions {
  /**
   * Subresources whose requests are reviewed too, such as `status`; `review.subresource` names the subresource. Only those
   * whose requests contain the object itself; `defineAdmission` handles the others. @default none
   */
  readonly subresources?: readonly string[] | undefined
  /**
   * Sets defaults by modifying the draft. Called for creates and updates, see `defaultingOperations`. Must be idempotent. Throwing rejects the
   * request.
   */
  default?(draft: Write, review: Review<Read>): Awaitable<void>
  /**
   * Returns the problems of an object; an empty list allows the request. Errors become an Invalid response that names
   * the fields. A thrown ApiError becomes the response; any other thrown error becomes Forbidden.
   */
  validate?(object: Read, review: Review<Read>): Awaitable<Issues<Read>>
  /** Like `validate`, for deletions. Without it, deletions are not validated. */
  validateDelete?(object: Read, review: Review<Read>): Awaitable<Issues<Read>>
  /** Permissions that the webhook needs for its reads with `client`, besides those of the operator's controllers. */
  readonly rbac?: readonly AccessRule[] | undefined
}

/** The definition of a webhook. */
export interface Webhook {
  readonly type: 'kind'
  readonly name: string
  readonly kind: AnyKind
  /** Changes nothing when the webhook sets no defaults. */
  readonly default: (draft: never, review: Review<never>) => Awaitable<void>
  /** Returns no issues when the webhook validates only deletions. */
  readonly validate: (object: never, review: Review<never>) => Awaitable<readonly (Issue | false | null | undefined)[]>
  /** The same as `validate` when the webhook has no separate validation of deletions. */
  readonly validateDelete: Webhook['validate']
  /** The registration of the defaulting webhook, if any. */
  readonly defaulting: WebhookRegistration | undefined
  /** The registration of the validating webhook, if any. */
  readonly validation: WebhookRegistration | undefined
  readonly rbac: readonly AccessRule[]
}

/** A webhook whose functions have the types of its kind, so that unit tests can call them. */
export interface WebhookOf<Read, Write> extends Webhook {
  readonly default: (draft: Write, review: Review<Read>) => Awaitable<void>
  readonly validate: (object: Read, review: Review<Read>) => Awaitable<Issues<Read>>
  readonly validateDelete: (object: Read, review: Review<Read>) => Awaitable<Issues<Read>>
}

/**
 * Defines how objects of a kind are defaulted and validated by the API server. A kind with several versions can have a
 * webhook for each version; one for the stored version is enough, since the API server converts requests in other
 * versions.
 */
export function defineWebhook<Read, Write, Status>(
  kind: Kind<Read, Write, Status>,
  options: WebhookOptions<Read, Write>,
): WebhookOf<NoInfer<Read>, NoInfer<Write>> {
  if (!options.default && !options.validate && !options.validateDelete) {
    throw new TypeError(
      `Cannot define webhook for ${kind.kind} as it has neither 'default' nor 'validate' nor 'validateDelete': add at least one`,
    )
  }
  checkRules(`webhook for ${kind.kind}`, options.rbac)
  const validate = (object: Read, review: Review<Read>): Awaitable<Issues<Read>> =>
    options.validate?.(object, review) ?? []
  return Object.freeze({
    type: 'kind',
    name: kind.kind.toLowerCase(),
    kind,
    default: (draft: Write, review: Review<Read>) => options.default?.(draft, review),
    validate,
    validateDelete: options.validateDelete
      ? (object: Read, review: Review<Read>) => options.validateDelete!(object, review)
      : validate,
    defaulting: defaultingRegistration(kind, options),
    validation: validationRegistration(kind, options),
    rbac: Object.freeze([...(options.rbac ?? [])]),
  })
}
