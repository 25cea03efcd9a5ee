import type { AnyKind, Kind, LabelSelector } from '@kubewright/api'
import type { Logger } from '@kubewright/base'
import type { Reader } from '@kubewright/client'
import type { PathOf } from '@kubewright/schema'
import type { AccessRule } from '../controller/access-rule.ts'
import type { Issue } from './issue.ts'
import {
  defaultingRegistration,
  validationRegistration,
  type WebhookOperation,
  type WebhookRegistration,
} from './webhook-registration.ts'

/** The request that a webhook answers. */
export interface Review<Read> {
  readonly operation: WebhookOperation
  /** The object before the request; absent on create. */
  readonly old?: Read
  readonly user: {
    readonly name: string
    readonly groups: readonly string[]
    readonly uid?: string
    readonly extra?: Readonly<Record<string, readonly string[]>>
  }
  /** Whether nothing is going to be stored. A webhook has no side effects anyway; one that has must not have them now. */
  readonly dryRun: boolean
  /** The CreateOptions, UpdateOptions or DeleteOptions of the request. */
  readonly options: Readonly<Record<string, unknown>>
  /** Of the object; undefined for kinds without namespaces. */
  readonly namespace: string | undefined
  /**
   * Reads from the API server, not from a cache: a check for uniqueness must not trust what may be old. Two requests at the same time
   * can still both pass such a check, since neither object is stored yet; a reconciler should notice that.
   */
  readonly client: Reader
  /** The time by the clock of the webhook server, a new Date for each call: a test environment with virtual time moves it. */
  readonly now: () => Date
  /** Carries the object, the operation, the user and the uid of the review. */
  readonly log: Logger
  /** Aborts when the API server has given up on the answer. */
  readonly signal: AbortSignal
}

type Awaitable<T> = T | Promise<T>

// What a webhook may object to. The status is none of a user's doing, and has its own subresource.
type Reviewed<Read> = Omit<Read, 'apiVersion' | 'kind' | 'status'>

/** Where issues of a kind's objects may be: a field, or anything below a list or map in one, such as `spec.ports[0].name`. */
export type IssuePath<Read> = PathOf<Reviewed<Read>> | `${PathOf<Reviewed<Read>>}[${string}`

/** What a validation returns; falsy entries are dropped. */
export type Issues<Read> = readonly (Issue<IssuePath<Read>> | false | null | undefined)[]

/** How webhooks are registered with the API server; what is left out is the API server's choice. */
export interface WebhookRegistrationOptions {
  /** @default `m<kind>-<version>.kb.io` */
  readonly defaultingName?: string
  /** @default `/mutate-<group>-<version>-<kind>`, with dashes for dots */
  readonly defaultingPath?: string
  /** @default `v<kind>-<version>.kb.io` */
  readonly validationName?: string
  /** @default `/validate-<group>-<version>-<kind>`, with dashes for dots */
  readonly validationPath?: string
  /** What is validated. @default creations and updates, and deletions when there is a `validateDelete` */
  readonly operations?: readonly WebhookOperation[]
  /** What happens when the webhook cannot be asked. @default 'Fail' */
  readonly failurePolicy?: 'Fail' | 'Ignore'
  /** Whether requests in other versions of the kind are converted and asked about too. @default 'Equivalent' */
  readonly matchPolicy?: 'Exact' | 'Equivalent'
  /** How long an answer may take, 1 to 30. @default 10 */
  readonly timeoutSeconds?: number
  /** @default 'None' */
  readonly sideEffects?: 'None' | 'NoneOnDryRun'
  /** Whether defaulting runs again when another webhook changed the object after it. @default 'Never' */
  readonly reinvocationPolicy?: 'Never' | 'IfNeeded'
  /** Only objects in namespaces with these labels. @default all */
  readonly namespaceSelector?: LabelSelector
  /** Only objects with these labels. @default all */
  readonly objectSelector?: LabelSelector
  /** Further conditions in CEL. */
  readonly matchConditions?: readonly { readonly name: string; readonly expression: string }[]
}

/** What {@link defineWebhook} takes. */
export interface WebhookOptions<Read, Write> extends WebhookRegistrationOptions {
  /**
   * Fills what the user left out, by changing the draft. Must give the same result when called twice. Called for creations and
   * updates; throwing refuses the request.
   */
  default?(draft: Write, review: Review<Read>): Awaitable<void>
  /**
   * Says what is wrong; an empty list admits. Errors make an Invalid answer that names the fields; throwing an ApiError gives its
   * answer, and throwing anything else is Forbidden.
   */
  validate?(object: Read, review: Review<Read>): Awaitable<Issues<Read>>
  /** As `validate`, for deletions, which are not asked about otherwise. */
  validateDelete?(object: Read, review: Review<Read>): Awaitable<Issues<Read>>
  /** Rights that it needs for what it reads with `client`, besides those of the operator's controllers. */
  readonly rbac?: readonly AccessRule[]
}

/** A webhook as an inspectable value. */
export interface Webhook {
  readonly name: string
  readonly kind: AnyKind
  readonly default: ((draft: never, review: Review<never>) => Awaitable<void>) | undefined
  readonly validate:
    | ((object: never, review: Review<never>) => Awaitable<readonly (Issue | false | null | undefined)[]>)
    | undefined
  readonly validateDelete: Webhook['validate']
  /** How the defaulting is registered; undefined when there is none. */
  readonly defaulting: WebhookRegistration | undefined
  /** How the validation is registered; undefined when there is none. */
  readonly validation: WebhookRegistration | undefined
  readonly rbac: readonly AccessRule[]
}

/**
 * Describes how objects of a kind are defaulted and validated on their way into the API server. A kind with several versions can have
 * a webhook for each; one for the stored version is enough, since requests in the others are converted for it.
 */
export function defineWebhook<Read, Write, Status>(
  kind: Kind<Read, Write, Status>,
  options: WebhookOptions<Read, Write>,
): Webhook {
  if (!options.default && !options.validate && !options.validateDelete) {
    throw new TypeError(
      `Cannot define webhook for ${kind.kind} as it has neither 'default' nor 'validate' nor 'validateDelete': give it one`,
    )
  }
  return Object.freeze({
    name: kind.kind.toLowerCase(),
    kind,
    default: options.default ? (draft: never, review: Review<never>) => options.default!(draft, review) : undefined,
    validate: options.validate
      ? (object: never, review: Review<never>) => options.validate!(object, review)
      : undefined,
    validateDelete: options.validateDelete
      ? (object: never, review: Review<never>) => options.validateDelete!(object, review)
      : undefined,
    defaulting: defaultingRegistration(kind, options),
    validation: validationRegistration(kind, options),
    rbac: Object.freeze([...(options.rbac ?? [])]),
  })
}
