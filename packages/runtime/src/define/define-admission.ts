import {
  createJsonPatch,
  type JsonPatchOperation,
  type LabelSelector,
  type ObjectMeta,
  type StatusReason,
} from '@kubewright/api'
import { deepCopy, isDNS1123Subdomain } from '@kubewright/base'
import type { AccessRule } from '../controller/access-rule.ts'
import { checkRules } from './check-definition.ts'
import type { Review, WebhookRegistrationOptions } from './define-webhook.ts'
import { type WebhookRegistration, webhookRegistration } from './webhook-registration.ts'
import { type WebhookRuleOptions, webhookRules } from './webhook-rule.ts'

/** An object of a request whose kind is not known at compile time. Some, such as PodExecOptions, have no metadata. */
export interface AdmittedObject {
  readonly apiVersion?: string | undefined
  readonly kind?: string | undefined
  readonly metadata?: Partial<ObjectMeta> | undefined
  readonly [field: string]: unknown
}

/** An admission request as the API server sends it, for webhooks of any kinds and subresources. */
export interface RawReview extends Omit<Review<AdmittedObject>, 'operation'> {
  readonly uid: string
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT'
  /** The kind of `object`, which differs from the kind of the resource for subresources such as `scale` and `exec`. */
  readonly kind: { readonly group: string; readonly version: string; readonly kind: string }
  readonly resource: { readonly group: string; readonly version: string; readonly resource: string }
  /** The name of the object; empty when the server generates it. */
  readonly name: string
  /** The object after the request; undefined for deletions. Read-only. */
  readonly object: AdmittedObject | undefined
}

/** The response of a raw webhook. {@link allowed}, {@link denied} and {@link patched} create it. */
export interface AdmissionResult {
  readonly allowed: boolean
  readonly message?: string | undefined
  /** The HTTP status of a rejection. @default 403 */
  readonly code?: number | undefined
  /** The reason of a rejection, such as `Forbidden`. */
  readonly reason?: StatusReason | undefined
  readonly warnings?: readonly string[] | undefined
  /** Changes of the object, for mutating webhooks only. */
  readonly patch?: readonly JsonPatchOperation[] | undefined
  /** Added to the audit event of the request, with the name of the webhook as prefix of the keys. */
  readonly auditAnnotations?: Readonly<Record<string, string>> | undefined
}

/** Further parts of an {@link AdmissionResult}. */
export type AdmissionResultOptions = Pick<AdmissionResult, 'warnings' | 'auditAnnotations'>

/** Allows a request. */
export function allowed(options: AdmissionResultOptions = {}): AdmissionResult {
  return { ...options, allowed: true }
}

/** Rejects a request with a message that the client sees. @default code 403 and reason Forbidden */
export function denied(
  message: string,
  options: AdmissionResultOptions & Pick<AdmissionResult, 'code' | 'reason'> = {},
): AdmissionResult {
  return { code: 403, reason: 'Forbidden', ...options, message, allowed: false }
}

/**
 * Allows a request and changes its object. `change` modifies a draft, which is a copy; the response contains the
 * differences.
 *
 * @example
 * handle: ({ object }) => patched(object, (draft) => { draft['spec'] = { paused: true } })
 */
export function patched(
  object: AdmittedObject | undefined,
  change: (draft: Record<string, unknown> & { metadata: Record<string, unknown> }) => void,
  options: AdmissionResultOptions = {},
): AdmissionResult {
  const draft = deepCopy({ ...object, metadata: object?.metadata ?? {} })
  change(draft)
  if (object?.metadata === undefined && Object.keys(draft.metadata).length === 0) {
    Reflect.deleteProperty(draft, 'metadata')
  }
  return { ...options, allowed: true, patch: createJsonPatch(object ?? {}, draft) }
}

/** Options of {@link defineAdmission}. */
export interface AdmissionOptions
  extends Pick<
    WebhookRegistrationOptions,
    'failurePolicy' | 'matchPolicy' | 'timeoutSeconds' | 'sideEffects' | 'reinvocationPolicy' | 'matchConditions'
  > {
  /** A mutating webhook may return a patch; validating webhooks run after all mutating ones. @default 'validating' */
  readonly type?: 'mutating' | 'validating' | undefined
  readonly rules: readonly WebhookRuleOptions[]
  /**
   * Decides about a request. A thrown ApiError becomes the response; any other thrown error rejects the request as
   * Forbidden.
   */
  handle(review: RawReview): AdmissionResult | Promise<AdmissionResult>
  /** The path at the webhook server. @default `/admit-<name>`, with dashes for dots */
  readonly path?: string | undefined
  readonly namespaceSelector?: LabelSelector | undefined
  readonly objectSelector?: LabelSelector | undefined
  /** Permissions that the webhook needs for its reads with `client`, besides those of the operator's controllers. */
  readonly rbac?: readonly AccessRule[] | undefined
}

/** The definition of a raw admission webhook. */
export interface AdmissionWebhook {
  readonly type: 'admission'
  readonly name: string
  readonly kind: undefined
  readonly handle: AdmissionOptions['handle']
  /** The registration of a mutating webhook. */
  readonly defaulting: WebhookRegistration | undefined
  /** The registration of a validating webhook. */
  readonly validation: WebhookRegistration | undefined
  readonly rbac: readonly AccessRule[]
}

/**
 * Defines an admission webhook that receives the requests of its rules as they are: for subresources such as
 * `pods/exec`, for wildcards and for kinds that are not known at compile time. `defineWebhook` is the typed form for one
 * kind. The name is a domain name with at least three parts, which users see in error messages.
 *
 * @example
 * defineAdmission('no-shells.example.com', {
 *   rules: [{ resources: ['pods/exec', 'pods/attach'], operations: ['CONNECT'] }],
 *   handle: ({ user }) => (user.groups.includes('admins') ? allowed() : denied('Only admins may open shells')),
 * })
 */
export function defineAdmission(name: string, options: AdmissionOptions): AdmissionWebhook {
  const what = `webhook "${name}"`
  const { type = 'validating', path = `/admit-${name.replaceAll('.', '-')}`, rbac = [] } = options
  const [problem] = isDNS1123Subdomain(name)
  if (problem !== undefined || name.split('.').length < 3) {
    throw new RangeError(
      `Cannot define ${what} as its name must be a domain name with at least three parts: use a name such as "no-shells.example.com"`,
    )
  }
  checkRules(what, rbac)
  const registration = webhookRegistration(what, options, {
    name,
    path,
    rules: webhookRules(what, options.rules),
    reinvocationPolicy: type === 'mutating' ? options.reinvocationPolicy : undefined,
  })
  return Object.freeze({
    type: 'admission',
    name,
    kind: undefined,
    handle: (review: RawReview) => options.handle(review),
    defaulting: type === 'mutating' ? registration : undefined,
    validation: type === 'validating' ? registration : undefined,
    rbac: Object.freeze([...rbac]),
  })
}
