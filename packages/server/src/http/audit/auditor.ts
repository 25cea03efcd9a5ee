import { type ApiRequest, type ApiResponse, encodeJson, isApiError, parseYaml, type Status } from '@kubewright/api'
import { type Clock, formatMicroTime, instantFromMillis, parseIPSloppy } from '@kubewright/base'
import { type AuditDecision, type AuditPolicy, type AuditStage, auditDecisions } from '../../config/audit-policy.ts'
import type { AuditRecord } from '../../request/audit-record.ts'
import type { RequestInfo } from '../../request/request-info.ts'
import { protobufSource } from '../../request/respond.ts'
import type { UserInfo } from '../../request/user-info.ts'
import { isLongRunning } from '../filters/request-class.ts'
import { afterResponse } from '../filters/response-end.ts'

/** Receives audit events, each as one line of JSON without a line break. Must not throw and should not block for long. */
export type AuditSink = (line: string) => void

/** Records every request at level Metadata, without a policy of the user. */
export const metadataPolicy: AuditPolicy = {
  rules: [
    {
      level: 'Metadata',
      users: [],
      userGroups: [],
      verbs: [],
      resources: [],
      namespaces: [],
      nonResourceURLs: [],
      omitStages: ['RequestReceived'],
    },
  ],
  omitStages: [],
  omitManagedFields: false,
}

/** A request before authorization. */
export interface ReceivedRequest {
  readonly request: ApiRequest
  readonly info: RequestInfo
  readonly auditId: string
  /** In epoch milliseconds. */
  readonly receivedAt: number
  /** The authenticated user, before impersonation. Undefined when authentication failed. */
  readonly user: UserInfo | undefined
}

/** Longer user agents are cut. */
const maxUserAgent = 1024
const emptyMetadata = { metadata: {} }

/** Writes audit events as kube-apiserver does (apiserver/pkg/endpoints/filters/audit.go). */
export class Auditor {
  readonly #decide: ReturnType<typeof auditDecisions>
  readonly #sink: AuditSink
  readonly #clock: Clock

  constructor(parts: { readonly policy: AuditPolicy; readonly sink: AuditSink; readonly clock: Clock }) {
    this.#decide = auditDecisions(parts.policy)
    this.#sink = parts.sink
    this.#clock = parts.clock
  }

  /** Begins the audit of an authenticated request and writes RequestReceived. Undefined if the policy does not record the request. */
  begin(received: ReceivedRequest): RequestAudit | undefined {
    const decision = this.#decision(received)
    if (decision.level === 'None') return undefined
    const audit = new RequestAudit(received, decision, this.#sink, this.#clock)
    audit.write('RequestReceived')
    return audit
  }

  /** Writes the event of a request whose credentials are invalid. It has the stage ResponseStarted and no user. */
  refused(received: ReceivedRequest, error: unknown): void {
    const decision = this.#decision(received)
    if (decision.level === 'None') return
    const audit = new RequestAudit(received, decision, this.#sink, this.#clock)
    audit.failed(error)
    audit.write('ResponseStarted')
  }

  #decision({ info, user }: ReceivedRequest): AuditDecision {
    return this.#decide({ ...info, user })
  }
}

/** The audit of one request: collects its event and writes it at each stage that the policy does not omit. */
export class RequestAudit implements AuditRecord {
  readonly #received: ReceivedRequest
  readonly #decision: AuditDecision
  readonly #sink: AuditSink
  readonly #clock: Clock
  readonly #annotations = new Map<string, string>()
  readonly #objectRef: Record<string, string>
  #impersonated: UserInfo | undefined
  #status: unknown
  /** JSON text. */
  #requestObject: string | undefined
  #responseObject: string | undefined

  constructor(received: ReceivedRequest, decision: AuditDecision, sink: AuditSink, clock: Clock) {
    this.#received = received
    this.#decision = decision
    this.#sink = sink
    this.#clock = clock
    const { resource, namespace, name, group, version, subresource } = received.info
    this.#objectRef = {
      resource,
      namespace,
      name,
      uid: '',
      apiGroup: group,
      apiVersion: version,
      resourceVersion: '',
      subresource,
    }
  }

  get #hasRequests(): boolean {
    return this.#decision.level === 'Request' || this.#decision.level === 'RequestResponse'
  }

  requestObject(metadata: Parameters<AuditRecord['requestObject']>[0], object: () => unknown): void {
    for (const key of ['namespace', 'name', 'uid', 'resourceVersion'] as const) {
      if (this.#objectRef[key] === '') this.#objectRef[key] = metadata[key] ?? ''
    }
    if (this.#hasRequests) this.#requestObject = this.#jsonOf(object())
  }

  requestBody(value: () => unknown): void {
    if (!this.#hasRequests) return
    try {
      this.#requestObject = encodeJson(value())
    } catch {
      // The request fails for the same reason: the body cannot be parsed.
    }
  }

  impersonated(user: UserInfo): void {
    this.#impersonated = user
  }

  annotate(key: string, value: string): void {
    if (!this.#annotations.has(key)) this.#annotations.set(key, value)
  }

  /** Completes the event with the response. Returns the response to pass on. */
  answered(response: ApiResponse, annotations: ReadonlyMap<string, string>): ApiResponse {
    for (const [key, value] of annotations) this.annotate(key, value)
    const { info, request } = this.#received
    const { status: code } = response
    this.#status ??= { ...emptyMetadata, code }
    if (isLongRunning(info)) {
      this.write('ResponseStarted')
      return afterResponse(request, response, () => this.write('ResponseComplete'))
    }
    if (!info.isResource) {
      this.write('ResponseComplete')
      return response
    }
    const { body } = response
    if (typeof body !== 'function') {
      if (body) this.#responseBody(response, body)
      this.write('ResponseComplete')
      return response
    }
    // A large list is streamed. Its pieces are collected only if the event needs them.
    const pieces: Uint8Array[] | undefined = this.#decision.level === 'RequestResponse' ? [] : undefined
    return {
      ...response,
      body: async (sink) => {
        try {
          await body({
            write: (piece) => {
              pieces?.push(piece)
              return sink.write(piece)
            },
            drained: () => sink.drained(),
          })
        } finally {
          if (pieces) this.#responseBody(response, Buffer.concat(pieces))
          this.write('ResponseComplete')
        }
      },
    }
  }

  /** Completes the event with an error. `status` is what the client receives. */
  failed(error: unknown, status?: Status): void {
    const shown = status ?? (isApiError(error) ? error.status : undefined)
    if (!shown) return
    this.#setStatus(shown)
    if (this.#decision.level === 'RequestResponse') this.#responseObject = encodeJson(shown)
  }

  write(stage: AuditStage): void {
    if (this.#decision.omitStages.has(stage)) return
    const { request, info, auditId, receivedAt, user } = this.#received
    const query = request.query.toString()
    const agent = request.headers['user-agent'] ?? ''
    const head = {
      kind: 'Event',
      apiVersion: 'audit.k8s.io/v1',
      level: this.#decision.level,
      auditID: auditId,
      stage,
      requestURI: query === '' ? request.path : `${request.path}?${query}`,
      verb: info.verb,
      user: user ? userOf(user) : {},
      ...(this.#impersonated ? { impersonatedUser: userOf(this.#impersonated) } : {}),
      sourceIPs: sourceIps(request),
      ...(agent === ''
        ? {}
        : { userAgent: agent.length > maxUserAgent ? `${agent.slice(0, maxUserAgent)}...TRUNCATED` : agent }),
      ...(info.isResource ? { objectRef: withoutEmpty(this.#objectRef) } : {}),
      ...(this.#status === undefined ? {} : { responseStatus: this.#status }),
    }
    const tail = {
      requestReceivedTimestamp: formatMicroTime(instantFromMillis(receivedAt)),
      stageTimestamp: formatMicroTime(instantFromMillis(this.#clock.now())),
      ...(this.#annotations.size === 0 ? {} : { annotations: Object.fromEntries([...this.#annotations].sort()) }),
    }
    // The bodies are JSON already.
    const bodies =
      (this.#requestObject === undefined ? '' : `,"requestObject":${this.#requestObject}`) +
      (this.#responseObject === undefined ? '' : `,"responseObject":${this.#responseObject}`)
    this.#sink(`${encodeJson(head).slice(0, -1)}${bodies},${encodeJson(tail).slice(1)}`)
  }

  #setStatus({ status, message, reason, details, code }: Status): void {
    this.#status = { ...emptyMetadata, status, message, reason, details, code }
  }

  /** Records the object of a response, and the details of a Status. */
  #responseBody(response: ApiResponse, body: Uint8Array): void {
    const type = String(response.headers['content-type'] ?? '')
    if (type.startsWith('text/') || response.status === 101) return
    const wanted = this.#decision.level === 'RequestResponse'
    const isDelete = this.#received.info.verb === 'delete'
    // Only deletions and errors are answered with a Status, and errors have been recorded.
    if (!wanted && !isDelete) return
    const value = decodedBody(type, body)
    if (value === undefined) return
    if (isDelete && (value as { kind?: string | undefined }).kind === 'Status') {
      this.#setStatus({ ...(value as Status), code: response.status })
    }
    if (wanted) this.#responseObject = this.#jsonOf(value)
  }

  #jsonOf(value: unknown): string {
    return encodeJson(this.#decision.omitManagedFields ? withoutManagedFields(value) : value)
  }
}

function decodedBody(contentType: string, body: Uint8Array): unknown {
  try {
    if (contentType.startsWith('application/vnd.kubernetes.protobuf')) return protobufSource.get(body)
    const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString()
    return contentType.startsWith('application/yaml') ? parseYaml(text) : JSON.parse(text)
  } catch {
    return undefined
  }
}

function userOf({ name, uid, groups, extra }: UserInfo): object {
  return {
    username: name,
    ...(uid ? { uid } : {}),
    ...(groups.length > 0 ? { groups } : {}),
    ...(extra && Object.keys(extra).length > 0 ? { extra } : {}),
  }
}

/** The addresses of the proxies that headers name, then that of the connection (apimachinery/pkg/util/net.SourceIPs). */
function sourceIps({ headers, peer }: ApiRequest): string[] {
  const addresses = (headers['x-forwarded-for'] ?? '').split(',').flatMap(addressIn)
  for (const real of addressIn(headers['x-real-ip'] ?? '')) if (!addresses.includes(real)) addresses.push(real)
  for (const remote of addressIn(peer.address)) if (addresses.at(-1) !== remote) addresses.push(remote)
  return addresses
}

function addressIn(text: string): string[] {
  const address = parseIPSloppy(text.trim())
  return address ? [address.unmap().toString()] : []
}

function withoutEmpty(values: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ''))
}

interface Managed {
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
  readonly items?: readonly Managed[] | undefined
  readonly rows?: readonly { readonly object?: Managed | undefined }[] | undefined
}

/** A copy without the managed fields of an object, of the items of a list or of the objects of a table. */
function withoutManagedFields(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  const { metadata, items, rows } = value as Managed
  const { managedFields: _, ...kept } = metadata ?? {}
  return {
    ...value,
    ...(metadata ? { metadata: kept } : {}),
    ...(Array.isArray(items) ? { items: items.map(withoutManagedFields) } : {}),
    ...(Array.isArray(rows)
      ? { rows: rows.map((row) => ({ ...row, ...(row.object ? { object: withoutManagedFields(row.object) } : {}) })) }
      : {}),
  }
}
