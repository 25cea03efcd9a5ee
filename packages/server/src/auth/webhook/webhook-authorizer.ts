import { parseFieldSelector, parseJson, parseSelector } from '@kubewright/api'
import { CaughtError } from '@kubewright/base'
import { CelError } from '@kubewright/cel'
import type { AuthorizationWebhookConfig } from '../../config/authorization-config.ts'
import type { ConfigExpression } from '../../config/config-expression.ts'
import { aggregateMessages } from '../../request/aggregate-messages.ts'
import type { AuthorizationAttributes, Authorizer, Decision, ResolvedRules } from '../authorizer.ts'
import { type AuthWebhookParts, callAuthWebhook } from './call-auth-webhook.ts'

interface ReviewStatus {
  readonly allowed?: boolean | undefined
  readonly denied?: boolean | undefined
  readonly reason?: string | undefined
}

/** How many decisions are cached. */
const maxCached = 8192
/** Requests whose attributes are longer are not cached: the client controls them. */
const maxCachedLength = 10_000
const noOpinion: Decision = { allowed: false, reason: '' }

/** Authorizes requests by a remote server, to which it sends SubjectAccessReviews (apiserver/plugin/pkg/authorizer/webhook). */
export class WebhookAuthorizer implements Authorizer {
  readonly #config: AuthorizationWebhookConfig
  readonly #parts: AuthWebhookParts
  /** Decisions by the review, least recently used first. */
  readonly #cache = new Map<string, { readonly status: ReviewStatus; readonly until: number }>()

  constructor(config: AuthorizationWebhookConfig, parts: AuthWebhookParts) {
    this.#config = config
    this.#parts = parts
  }

  async authorize(attributes: AuthorizationAttributes): Promise<Decision> {
    const spec = specOf(attributes)
    try {
      if (!matches(this.#config.matchConditions, spec)) return noOpinion
      return decisionOf(await this.#review(spec, isCacheable(attributes)))
    } catch (error) {
      return {
        allowed: false,
        reason: '',
        error: (error as Error).message,
        ...(this.#config.failurePolicy === 'Deny' ? { denied: true } : {}),
      }
    }
  }

  async rulesFor(): Promise<ResolvedRules> {
    return {
      resourceRules: [],
      nonResourceRules: [],
      incomplete: true,
      evaluationError: 'webhook authorizer does not support user rule resolution',
    }
  }

  async #review(spec: ReviewSpec, isCacheable: boolean): Promise<ReviewStatus> {
    const { clock } = this.#parts
    const key = JSON.stringify(spec)
    const known = this.#cache.get(key)
    if (known) this.#cache.delete(key)
    if (known && known.until > clock.now()) {
      this.#cache.set(key, known)
      return known.status
    }
    const status = await this.#call(spec)
    const ttl = status.allowed ? this.#config.authorizedTtl : this.#config.unauthorizedTtl
    if (isCacheable && ttl > 0) {
      if (this.#cache.size >= maxCached) this.#cache.delete(this.#cache.keys().next().value!)
      this.#cache.set(key, { status, until: clock.now() + ttl })
    }
    return status
  }

  async #call(spec: ReviewSpec): Promise<ReviewStatus> {
    const { version, timeout } = this.#config
    const { resourceAttributes, nonResourceAttributes, user, groups, ...rest } = spec
    // Fields that are undefined are left out. The other ones are in the order of kube-apiserver.
    const review = {
      kind: 'SubjectAccessReview',
      apiVersion: `authorization.k8s.io/${version}`,
      metadata: {},
      spec: {
        resourceAttributes,
        nonResourceAttributes,
        user,
        [version === 'v1' ? 'groups' : 'group']: groups,
        ...rest,
      },
      status: { allowed: false },
    }
    const failure = 'Failed to make webhook authorizer request'
    return statusIn(await callAuthWebhook(this.#parts, review, timeout / 1000, failure))
  }
}

function statusIn(body: Uint8Array): ReviewStatus {
  const { kind, status } = parseJson(body) as { readonly kind?: unknown; readonly status?: ReviewStatus | undefined }
  if (kind !== 'SubjectAccessReview')
    throw new CaughtError(`unexpected kind of the webhook's response: ${String(kind)}`)
  return status ?? {}
}

function decisionOf({ allowed = false, denied = false, reason = '' }: ReviewStatus): Decision {
  if (!denied) return { allowed, reason }
  const both = 'webhook subject access review returned both allow and deny response'
  return { allowed: false, denied: true, reason, ...(allowed ? { error: both } : {}) }
}

interface Requirement {
  readonly key: string
  readonly operator: string
  readonly values?: readonly string[] | undefined
}

interface ReviewSpec {
  readonly resourceAttributes?:
    | Readonly<Record<string, string | { readonly requirements: readonly Requirement[] }>>
    | undefined
  readonly nonResourceAttributes?: { readonly path: string; readonly verb: string } | undefined
  readonly user: string
  readonly groups?: readonly string[] | undefined
  readonly extra?: Readonly<Record<string, readonly string[]>> | undefined
  readonly uid?: string | undefined
}

/** The spec of a review, with its fields in the order of kube-apiserver and without empty ones. */
function specOf(attributes: AuthorizationAttributes): ReviewSpec {
  const { user, verb, path, isResource } = attributes
  const { name, groups, extra, uid } = user
  const about = isResource
    ? { resourceAttributes: resourceAttributesOf(attributes) }
    : { nonResourceAttributes: { path, verb } }
  return {
    ...about,
    user: name,
    ...(groups.length > 0 ? { groups } : {}),
    ...(extra && Object.keys(extra).length > 0 ? { extra } : {}),
    ...(uid ? { uid } : {}),
  }
}

function resourceAttributesOf(attributes: AuthorizationAttributes): NonNullable<ReviewSpec['resourceAttributes']> {
  const { namespace, verb, group, version, resource, subresource, name, selectors } = attributes
  const texts = { namespace, verb, group, version, resource, subresource, name }
  const fields = fieldRequirements(selectors?.fields ?? '')
  const labels = labelRequirements(selectors?.labels ?? '')
  return {
    ...Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== '')),
    ...(fields.length > 0 ? { fieldSelector: { requirements: fields } } : {}),
    ...(labels.length > 0 ? { labelSelector: { requirements: labels } } : {}),
  }
}

/** A selector that cannot be parsed narrows nothing. */
function fieldRequirements(text: string): Requirement[] {
  try {
    return parseFieldSelector(text).requirements.map(({ field, operator, value }) => ({
      key: field,
      operator: operator === '!=' ? 'NotIn' : 'In',
      values: [value],
    }))
  } catch {
    return []
  }
}

const labelOperators: Readonly<Record<string, string>> = {
  '=': 'In',
  '==': 'In',
  in: 'In',
  '!=': 'NotIn',
  notin: 'NotIn',
  exists: 'Exists',
  '!': 'DoesNotExist',
}

function labelRequirements(text: string): Requirement[] {
  try {
    return parseSelector(text).requirements.flatMap(({ key, operator, values }) => {
      const known = labelOperators[operator]
      return known === undefined
        ? []
        : [{ key, operator: known, ...(values.length > 0 ? { values: [...values] } : {}) }]
    })
  } catch {
    return []
  }
}

/** Whether all conditions are true. A false condition takes precedence over errors. */
function matches(conditions: readonly ConfigExpression[], spec: ReviewSpec): boolean {
  if (conditions.length === 0) return true
  const { resourceAttributes: about } = spec
  const empty = { namespace: '', verb: '', group: '', version: '', resource: '', subresource: '', name: '' }
  const request = {
    ...spec,
    groups: spec.groups ?? [],
    uid: spec.uid ?? '',
    extra: spec.extra ?? {},
    ...(about ? { resourceAttributes: { ...empty, ...about } } : {}),
  }
  const errors: string[] = []
  for (const { expression, program } of conditions) {
    try {
      if (program.evaluate({ request }) === false) return false
    } catch (error) {
      if (!(error instanceof CelError)) throw error
      errors.push(`cel evaluation error: expression '${expression}' resulted in error: ${error.message}`)
    }
  }
  if (errors.length > 0) throw new CaughtError(aggregateMessages(errors))
  return true
}

function isCacheable({
  namespace,
  verb,
  group,
  version,
  resource,
  subresource,
  name,
  path,
}: AuthorizationAttributes): boolean {
  const texts = [namespace, verb, group, version, resource, subresource, name, path]
  return texts.reduce((sum, text) => sum + text.length, 0) < maxCachedLength
}
