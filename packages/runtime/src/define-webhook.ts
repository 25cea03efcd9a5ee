import type { AnyKind, Kind } from '@kubewright/api'
import type { Reader } from '@kubewright/client'
import type { PathOf } from '@kubewright/schema'
import type { Issue } from './issue.ts'

/** The request that a webhook answers. */
export interface Review<Read> {
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE'
  /** The object before the request; absent on create. */
  readonly old?: Read
  readonly user: { readonly name: string; readonly groups: readonly string[] }
  readonly client: Reader
  readonly signal: AbortSignal
}

type Awaitable<T> = T | Promise<T>

/** What {@link defineWebhook} takes. */
export interface WebhookOptions<Read, Write> {
  /** Fills what the user left out, by changing the draft. Must give the same result when called twice. */
  default?(draft: Write, review: Review<Read>): Awaitable<void>
  /** Says what is wrong; falsy entries are dropped, an empty list admits. */
  validate?(
    object: Read,
    review: Review<Read>,
  ): Awaitable<readonly (Issue<PathOf<Pick<Read, 'spec' & keyof Read>>> | false | null | undefined)[]>
}

/** A webhook as an inspectable value. */
export interface Webhook {
  readonly name: string
  readonly kind: AnyKind
  readonly default: ((draft: never, review: Review<never>) => Awaitable<void>) | undefined
  readonly validate:
    | ((object: never, review: Review<never>) => Awaitable<readonly (Issue | false | null | undefined)[]>)
    | undefined
}

/** Describes how objects of a kind are defaulted and validated on their way into the API server. */
export function defineWebhook<Read extends { readonly spec: unknown }, Write, Status>(
  kind: Kind<Read, Write, Status>,
  options: WebhookOptions<Read, Write>,
): Webhook {
  if (!options.default && !options.validate) {
    throw new TypeError(
      `Cannot define webhook for ${kind.kind} as it has neither 'default' nor 'validate': give it one`,
    )
  }
  return Object.freeze({
    name: kind.kind.toLowerCase(),
    kind,
    default: options.default ? (draft: never, review: Review<never>) => options.default!(draft, review) : undefined,
    validate: options.validate
      ? (object: never, review: Review<never>) => options.validate!(object, review)
      : undefined,
  })
}
