import {
  type ApiRequest,
  type ApiResponse,
  isApiError,
  newBadRequest,
  newInternalError,
  newTimeoutError,
  type Status,
} from '@kubewright/api'
import {
  type Awaitable,
  CaughtError,
  type Clock,
  errorText,
  goQuote,
  type Logger,
  parseDuration,
  type Random,
  shortId,
  uuid,
} from '@kubewright/base'
import { StorageError } from '@kubewright/storage'
import { authenticate } from '../auth/authenticate.ts'
import type { Authenticator } from '../auth/authenticator.ts'
import { type AuthorizationAttributes, type Authorizer, attributesOf, type Decision } from '../auth/authorizer.ts'
import { forbiddenError } from '../auth/forbidden-error.ts'
import { impersonate } from '../auth/impersonation.ts'
import type { AuditRecord } from '../request/audit-record.ts'
import { andThen, settle } from '../request/awaitable.ts'
import { negotiateError } from '../request/negotiate.ts'
import type { PathHandler } from '../request/path-handler.ts'
import type { RequestContext } from '../request/request-context.ts'
import type { RequestFilter } from '../request/request-filter.ts'
import { plainInfo, type RequestInfo, requestInfoOf } from '../request/request-info.ts'
import { respondStatus, respondText } from '../request/respond.ts'
import type { UserInfo } from '../request/user-info.ts'
import { maxWarnings, warningHeaders } from '../request/warning-headers.ts'
import type { Auditor, RequestAudit } from './audit/auditor.ts'

/** Options of {@link RequestHandler}. */
export interface RequestHandlerOptions {
  /** Tried in order; the first one that accepts a credential determines the user. */
  readonly authenticators: readonly Authenticator[]
  /** Whether a request without credentials for this path is served. @default all are */
  readonly allowsAnonymous?: ((path: string) => boolean) | undefined
  readonly authorizer: Authorizer
  /** The first one is the outermost. */
  readonly filters: readonly RequestFilter[]
  /** Tried in order, before resources. */
  readonly paths: readonly PathHandler[]
  /** Handles authorized requests for resources. */
  readonly dispatch: (context: RequestContext) => Awaitable<ApiResponse>
  /** Writes the audit log. @default none */
  readonly auditor?: Auditor | undefined
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
}

/** What the steps of one request share. */
interface RequestScope {
  readonly request: ApiRequest
  readonly warnings: string[]
  readonly auditId: string
  /** Headers of every response to the request. */
  readonly headers: Record<string, string>
  /** Annotations that the handling of the request adds to the audit event. */
  readonly annotations: Map<string, string>
  /** Set once the client is authenticated, if the audit policy records the request. */
  audit?: RequestAudit | undefined
}

/** Longer audit ids of clients are cut. */
const maxAuditId = 64

/**
 * Takes every request through the same steps, in this order: parse the path, authenticate, impersonate, run the filters, authorize, try
 * the path handlers, dispatch to the resource.
 */
export class RequestHandler {
  readonly #options: RequestHandlerOptions

  constructor(options: RequestHandlerOptions) {
    this.#options = options
  }

  /** Never rejects: every failure becomes an HTTP response. */
  async handle(request: ApiRequest): Promise<ApiResponse> {
    const warnings: string[] = []
    const auditId = this.#auditId(request)
    const scope: RequestScope = { request, warnings, auditId, annotations: new Map(), headers: { 'audit-id': auditId } }
    let response: ApiResponse
    try {
      const served = this.#serve(scope)
      response = served instanceof Promise ? await served : served
    } catch (error) {
      const status = this.#statusOf(error, request, auditId)
      scope.audit?.failed(error, status)
      response =
        error instanceof AuthorizationFailure
          ? respondText(500, `Internal Server Error: ${goQuote(targetOf(request))}: ${error.message}\n`)
          : respondStatus(status, negotiateError(request))
    }
    if (scope.audit) response = scope.audit.answered(response, scope.annotations)
    // Assigned one by one: V8 creates a hidden class for each result of two spreads, which takes longer than to look up the object.
    const headers: Record<string, string | readonly string[]> = scope.headers
    for (const name in response.headers) headers[name] = response.headers[name]!
    if (warnings.length > 0) headers['warning'] = warningHeaders(warnings)
    return { ...response, headers }
  }

  /** The id that the client sent, or a new one: a UUID if there is an audit log, otherwise a short one for the log of the server. */
  #auditId({ headers }: ApiRequest): string {
    const { auditor, random } = this.#options
    return headers['audit-id']?.slice(0, maxAuditId) || (auditor ? uuid(random) : shortId(random))
  }

  #serve(scope: RequestScope): Awaitable<ApiResponse> {
    const { request } = scope
    const info = parsePath(request)
    if (!info) {
      // No resource is known, so the audit event has the path as the client wrote it.
      this.#refused(scope, plainInfo(request.method, request.path), newBadRequest('400 Bad Request'))
      return respondText(400, '400 Bad Request')
    }
    try {
      if (info.verb !== 'watch') checkTimeout(request.query)
    } catch (error) {
      this.#refused(scope, info, error)
      throw error
    }
    return andThen(this.#identify(scope, info), (context) => this.#filter(context, 0))
  }

  /** Records a request that is refused before its client is known. */
  #refused({ request, auditId }: RequestScope, info: RequestInfo, error: unknown): void {
    const { auditor, clock } = this.#options
    auditor?.refused({ request, info, auditId, receivedAt: clock.now(), user: undefined }, error)
  }

  /** Authenticates the client, applies impersonation headers and creates the context of the request. */
  #identify(scope: RequestScope, info: RequestInfo): Awaitable<RequestContext> {
    const { request, warnings, auditId } = scope
    const { authenticators, authorizer, clock, allowsAnonymous, auditor } = this.#options
    const receivedAt = clock.now()
    let known: Set<string> | undefined
    const warn = (text: string): void => {
      known ??= new Set()
      if (known.has(text) || warnings.length >= maxWarnings) return
      known.add(text)
      warnings.push(text)
    }
    const refused = (error: unknown): never => {
      auditor?.refused({ request, info, auditId, receivedAt, user: undefined }, error)
      throw error
    }
    const assumed = (client: UserInfo): Awaitable<UserInfo> => {
      scope.audit = auditor?.begin({ request, info, auditId, receivedAt, user: client })
      return andThen(impersonate(request, client, authorizer), (user) => {
        if (user !== client) scope.audit?.impersonated(user)
        return user
      })
    }
    const client = settle(() => authenticate(authenticators, request, warn, allowsAnonymous), same, refused)
    return andThen(andThen(client, assumed), (user) => this.#contextOf(scope, info, user, receivedAt, warn))
  }

  #contextOf(
    scope: RequestScope,
    info: RequestInfo,
    user: UserInfo,
    receivedAt: number,
    warn: (text: string) => void,
  ): RequestContext {
    const { request, warnings, auditId, annotations } = scope
    const context: RequestContext = {
      request,
      info,
      user,
      receivedAt,
      warnings,
      warn,
      responseHeaders: scope.headers,
      audit: annotations,
      auditRecord: scope.audit,
      auditId,
      authorize: async (verb) => this.#authorize({ ...context, info: { ...info, verb } }),
    }
    return context
  }

  /** Runs the filters from the given one inwards, and then the request itself. */
  #filter(context: RequestContext, index: number): Awaitable<ApiResponse> {
    const filter = this.#options.filters[index]
    return filter ? filter(context, () => this.#filter(context, index + 1)) : this.#route(context)
  }

  #route(context: RequestContext): Awaitable<ApiResponse> {
    // Before path handlers and resources: both rely on it.
    const authorized = this.#authorize(context, context.auditRecord)
    return authorized ? authorized.then(() => this.#respond(context, 0)) : this.#respond(context, 0)
  }

  /** Tries the path handlers from the given one on, and then the resource. */
  #respond(context: RequestContext, first: number): Awaitable<ApiResponse> {
    const { paths } = this.#options
    for (let i = first; i < paths.length; i++) {
      const response = paths[i]!(context)
      if (response instanceof Promise) return response.then((late) => late ?? this.#respond(context, i + 1))
      if (response) return response
    }
    // Authorization ignores slashes at the beginning of the path; kube-apiserver's router does not.
    const isMalformed = context.info.path.startsWith('//')
    if (context.info.isResource && !isMalformed) return this.#options.dispatch(context)
    return respondText(404, '404 page not found\n')
  }

  /** Throws, or rejects, unless the user may do what the request asks for. */
  #authorize({ user, info, request }: RequestContext, record?: AuditRecord): Promise<void> | undefined {
    const attributes = attributesOf(user, info, request.query)
    const decision = this.#options.authorizer.authorize(attributes)
    if (decision instanceof Promise) return decision.then((late) => enforce(late, attributes, record))
    enforce(decision, attributes, record)
    return undefined
  }

  /** Converts a failure to a Status. Internal errors are logged with the audit id that the client receives. */
  #statusOf(error: unknown, request: ApiRequest, auditId: string): Status {
    if (isApiError(error)) return error.status
    // The server recurses only over request bodies, so the body exhausted the call stack.
    if (error instanceof RangeError && error.message.includes('call stack')) {
      return newBadRequest('the object is nested too deep').status
    }
    // The client disconnected, or the server stops: no response will be sent.
    if (request.signal.aborted && error === request.signal.reason) return newTimeoutError('request canceled', 0).status
    this.#options.log.error(error, 'Request failed', { method: request.method, path: request.path, auditId })
    // The message of a storage error contains paths of the server's files, such as the data folder: only the log has it.
    const text = error instanceof StorageError ? storageText(error) : errorText(error)
    return newInternalError(new Error(`${text} (request ${auditId})`)).status
  }
}

/** An authorizer failed and no other one allowed the request. The response is a text, as in kube-apiserver. */
class AuthorizationFailure extends CaughtError {
  override readonly name = 'AuthorizationFailure'
}

/** Records a decision, and throws unless it allows the request. */
function enforce(decision: Decision, attributes: AuthorizationAttributes, record: AuditRecord | undefined): void {
  const failed = !decision.allowed && decision.error !== undefined
  if (!failed) record?.annotate('authorization.k8s.io/decision', decision.allowed ? 'allow' : 'forbid')
  record?.annotate('authorization.k8s.io/reason', failed ? 'internal error' : decision.reason)
  if (!decision.allowed && decision.error !== undefined) throw new AuthorizationFailure(decision.error)
  if (!decision.allowed) throw forbiddenError(attributes, decision.reason)
}

function same<T>(value: T): T {
  return value
}

/** Path and query of a request. */
function targetOf({ path, query }: ApiRequest): string {
  return query.size === 0 ? path : `${path}?${query}`
}

function storageText({ reason }: StorageError): string {
  return `the storage failed${reason === undefined ? '' : `: ${reason}`}; the log of the server has the cause`
}

/** Undefined when the path is malformed. */
function parsePath({ method, path, query }: ApiRequest): RequestInfo | undefined {
  try {
    return requestInfoOf(method, path, query)
  } catch {
    return undefined
  }
}

/** Rejects a malformed `timeout`. The request timeout filter enforces the value. */
function checkTimeout(query: URLSearchParams): void {
  const timeout = query.get('timeout')
  if (!timeout) return
  try {
    parseDuration(timeout)
  } catch (error) {
    throw newBadRequest(`invalid timeout specified in the request URL - ${(error as Error).message}`)
  }
}
