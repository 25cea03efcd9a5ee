import { isApiError } from '@kubewright/api'
import { type Clock, formatMicroTime, instantFromMillis } from '@kubewright/base'
import type { RequestContext } from '../../request/request-context.ts'
import type { RequestFilter } from '../../request/request-filter.ts'

/** Receives audit events. `write` must not throw and should not block. */
export interface AuditSink {
  write(event: AuditEvent): void
}

/** An event of audit.k8s.io/v1 at level Metadata: the user, the verb, the object and the outcome. */
export interface AuditEvent {
  readonly kind: 'Event'
  readonly apiVersion: 'audit.k8s.io/v1'
  readonly level: 'Metadata'
  readonly auditID: string
  readonly stage: 'ResponseComplete'
  readonly requestURI: string
  readonly verb: string
  readonly user: Readonly<Record<string, unknown>>
  readonly sourceIPs: readonly string[]
  readonly userAgent?: string
  readonly objectRef?: Readonly<Record<string, string>>
  readonly responseStatus: Readonly<Record<string, unknown>>
  readonly requestReceivedTimestamp: string
  readonly stageTimestamp: string
  readonly annotations?: Readonly<Record<string, string>>
}

/** Sends an audit event to the sink after every response. Events never contain request or response bodies. */
export function auditLog(sink: AuditSink, clock: Clock): RequestFilter {
  return async (context, next) => {
    const report = (status: Readonly<Record<string, unknown>>): void =>
      sink.write(eventOf(context, status, clock.now()))
    try {
      const response = await next()
      report({ metadata: {}, code: response.status })
      return response
    } catch (error) {
      if (!isApiError(error)) report({ metadata: {}, status: 'Failure', code: 500 })
      else {
        const { status, message, reason, code } = error.status
        report({ metadata: {}, status, message, reason, code })
      }
      throw error
    }
  }
}

/** Creates a sink that writes each event as one line of JSON. */
export function jsonLinesAudit(write: (line: string) => void): AuditSink {
  return { write: (event) => write(`${JSON.stringify(event)}\n`) }
}

function eventOf(context: RequestContext, responseStatus: AuditEvent['responseStatus'], now: number): AuditEvent {
  const { request, info, user, audit } = context
  const query = request.query.toString()
  const agent = request.headers['user-agent']
  return {
    kind: 'Event',
    apiVersion: 'audit.k8s.io/v1',
    level: 'Metadata',
    auditID: context.auditId ?? '',
    stage: 'ResponseComplete',
    requestURI: query === '' ? request.path : `${request.path}?${query}`,
    verb: info.verb,
    user: {
      username: user.name,
      ...(user.uid === undefined ? {} : { uid: user.uid }),
      groups: user.groups,
      ...(user.extra ? { extra: user.extra } : {}),
    },
    sourceIPs: request.peer.address === '' ? [] : [request.peer.address],
    ...(agent === undefined ? {} : { userAgent: agent }),
    ...(info.isResource ? { objectRef: objectRef(context) } : {}),
    responseStatus,
    requestReceivedTimestamp: formatMicroTime(instantFromMillis(context.receivedAt)),
    stageTimestamp: formatMicroTime(instantFromMillis(now)),
    ...(audit.size > 0 ? { annotations: Object.fromEntries(audit) } : {}),
  }
}

function objectRef({ info }: RequestContext): Readonly<Record<string, string>> {
  const { resource, namespace, name, group, version, subresource } = info
  const all = { resource, namespace, name, apiGroup: group, apiVersion: version, subresource }
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ''))
}
