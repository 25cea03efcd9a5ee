import {
  type ApiResponse,
  type NodeConnector,
  newBadRequest,
  newInvalid,
  newNotFound,
  newServiceUnavailable,
  type PodLogRequest,
} from '@kubewright/api'
import { goQuote, parseIPSloppy } from '@kubewright/base'
import { type FieldError, FieldPath, forbidden, invalid } from '@kubewright/schema'
import { type Backend, unverified } from '../../../../proxy/backend.ts'
import type { KubeletConnections } from '../../../../proxy/kubelet-connections.ts'
import { kubeletLog } from '../../../../proxy/kubelet-log.ts'
import { overWebSocket } from '../../../../proxy/log-socket.ts'
import { tunnelPortForward, wantsTunnel } from '../../../../proxy/port-forward-tunnel.ts'
import { proxyRequest, proxyUpgrade, requireUpgrade } from '../../../../proxy/proxy-request.ts'
import { translateStreams, wantsTranslation } from '../../../../proxy/stream-translator.ts'
import type { ObjectAccess } from '../../../../registry/object-access.ts'
import { requireText } from '../../../../request/negotiate.ts'
import type { RequestContext } from '../../../../request/request-context.ts'
import { isTrue } from '../../../../request/request-info.ts'
import { integerParameter } from '../../../../request/write-options.ts'
import type { MutableObject } from '../../../../resource/object.ts'
import type { Resource } from '../../../../resource/resource.ts'
import type { Subresource } from '../../../../resource/subresource.ts'
import type { PodLike } from '../pod-types.ts'
import { podSpecOf } from '../validation/validate-pod.ts'
import { visitContainers } from '../visit-containers.ts'

/** The parts of the server that connections to pods use. */
export interface ConnectionParts extends ObjectAccess {
  /** The simulated nodes. */
  readonly nodes?: NodeConnector | undefined
  readonly kubelets: KubeletConnections
}

type Parts = ConnectionParts

async function podOf({ registry }: Parts, { info }: RequestContext, resource: Resource): Promise<MutableObject> {
  const stored = await registry.find(resource, info.namespace, info.name)
  if (!stored) throw newNotFound({ group: '', resource: 'pods' }, info.name)
  return stored.object as MutableObject
}

/** The container that the request names, or the only one of the pod. Throws when there is no such container. */
function containerOf(pod: MutableObject, container: string): string {
  const spec = podSpecOf(pod)
  const { name = '' } = pod.metadata
  const names: string[] = []
  visitContainers(spec, FieldPath.none, (candidate) => names.push(candidate.name ?? ''))
  if (container !== '') {
    if (!names.includes(container)) throw newBadRequest(`container ${container} is not valid for pod ${name}`)
    return container
  }
  if ((spec.containers ?? []).length === 0) {
    throw newBadRequest(`a container name must be specified for pod ${name}`)
  }
  if ((spec.containers ?? []).length > 1) {
    throw newBadRequest(`a container name must be specified for pod ${name}, choose one of: [${names.join(' ')}]`)
  }
  return spec.containers?.[0]?.name ?? ''
}

function validateLogOptions(query: URLSearchParams, name: string): void {
  const errors: FieldError[] = []
  const tail = integerParameter(query, 'tailLines')
  const limit = integerParameter(query, 'limitBytes')
  const since = integerParameter(query, 'sinceSeconds')
  if (tail !== undefined && tail < 0) {
    errors.push(invalid(FieldPath.of('tailLines'), tail, 'must be greater than or equal to 0'))
  }
  if (limit !== undefined && limit < 1) {
    errors.push(invalid(FieldPath.of('limitBytes'), limit, 'must be greater than 0'))
  }
  if (since !== undefined && query.get('sinceTime')) {
    errors.push(forbidden(FieldPath.of(''), 'at most one of `sinceTime` or `sinceSeconds` may be specified'))
  } else if (since !== undefined && since < 1) {
    errors.push(invalid(FieldPath.of('sinceSeconds'), since, 'must be greater than 0'))
  }
  if (query.has('stream')) errors.push(forbidden(FieldPath.of('stream'), 'may not be specified'))
  if (errors.length > 0) throw newInvalid({ group: '', kind: 'PodLogOptions' }, name, errors)
}

/** The subresource log, from a simulated node or a kubelet. The log of a pod that is not scheduled is empty. */
export function logSubresource(parts: Parts): Subresource {
  return {
    verbs: ['get'],
    handle: async (context, resource): Promise<ApiResponse> => {
      const { query } = context.request
      requireText(context.request)
      validateLogOptions(query, context.info.name)
      const pod = await podOf(parts, context, resource)
      const container = containerOf(pod, query.get('container') ?? '')
      const node = podSpecOf(pod).nodeName
      if (!node) return { status: 204, headers: { 'cache-control': 'no-cache, private' } }
      const lines = parts.nodes?.logs(logRequest(context, pod, node))
      if (lines) return overWebSocket(context, logResponse(lines, context.request.signal))
      const kubelet = await parts.kubelets.locate(node, 'pods', !isTrue(query.get('insecureSkipTLSVerifyBackend')))
      return overWebSocket(context, await kubeletLog(parts.kubelets.outgoing, kubelet, { context, container }))
    },
  }
}

function logRequest({ request, info }: RequestContext, pod: MutableObject, node: string): PodLogRequest {
  const { query, signal } = request
  const flag = (name: string): boolean => ['true', '1'].includes(query.get(name) ?? '')
  const tailLines = integerParameter(query, 'tailLines')
  const sinceSeconds = integerParameter(query, 'sinceSeconds')
  const limitBytes = integerParameter(query, 'limitBytes')
  const sinceTime = query.get('sinceTime')
  return {
    node,
    namespace: info.namespace,
    pod: info.name,
    uid: pod.metadata.uid ?? '',
    container: query.get('container') || (podSpecOf(pod).containers?.[0]?.name ?? ''),
    follow: flag('follow'),
    previous: flag('previous'),
    timestamps: flag('timestamps'),
    ...(tailLines === undefined ? {} : { tailLines }),
    ...(sinceSeconds === undefined ? {} : { sinceSeconds }),
    ...(sinceTime ? { sinceTime } : {}),
    ...(limitBytes === undefined ? {} : { limitBytes }),
    signal,
  }
}

function logResponse(lines: AsyncIterable<string>, signal: AbortSignal): ApiResponse {
  const encoder = new TextEncoder()
  return {
    status: 200,
    headers: { 'content-type': 'text/plain', 'cache-control': 'no-cache, private' },
    body: async (sink) => {
      for await (const line of lines) {
        if (signal.aborted) return
        if (!sink.write(encoder.encode(line))) await sink.drained()
      }
    },
  }
}

/** The subresources exec, attach and portforward: connections to the kubelet of the pod. */
export function streamSubresource(parts: Parts, kind: 'exec' | 'attach' | 'portForward'): Subresource {
  return {
    verbs: ['get', 'create'],
    handle: async (context, resource): Promise<ApiResponse> => {
      // A WebSocket request is a GET: without this check, the permission to read would allow it.
      await context.authorize('create')
      const pod = await podOf(parts, context, resource)
      const { query } = context.request
      const container = kind === 'portForward' ? '' : containerOf(pod, query.get('container') ?? '')
      const node = podSpecOf(pod).nodeName
      if (!node) throw newBadRequest(`pod ${context.info.name} does not have a host assigned`)
      const refusal = parts.nodes?.refusesStreams?.(node)
      if (refusal !== undefined) throw newBadRequest(refusal)
      const { outgoing } = parts.kubelets
      const kubelet = await parts.kubelets.locate(node, 'pods')
      requireUpgrade(context)
      const { namespace = '', name = '' } = pod.metadata
      const path = [kind, namespace, name, ...(container === '' ? [] : [container])].map(encodeURIComponent).join('/')
      const target = `/${path}${streamQuery(query, kind)}`
      if (kind === 'portForward' ? wantsTunnel(context) : wantsTranslation(context)) {
        return kind === 'portForward'
          ? tunnelPortForward(outgoing, context, kubelet, target)
          : translateStreams(outgoing, context, kubelet, target)
      }
      return proxyUpgrade(outgoing, context, kubelet, target)
    },
  }
}

/** The options of the kubelet, in the order in which Go encodes them. */
function streamQuery(query: URLSearchParams, kind: 'exec' | 'attach' | 'portForward'): string {
  const options = new URLSearchParams()
  if (kind === 'portForward') {
    const ports = query.getAll('ports')
    if (ports.length > 0) options.append('port', ports.join(','))
  } else {
    if (kind === 'exec') for (const word of query.getAll('command')) options.append('command', word)
    for (const [name, option] of streamOptions) if (isTrue(query.get(name))) options.append(option, '1')
  }
  return options.size === 0 ? '' : `?${options}`
}

const streamOptions = [
  ['stderr', 'error'],
  ['stdin', 'input'],
  ['stdout', 'output'],
  ['tty', 'tty'],
] as const

/** Parses `name`, `name:port` or `scheme:name:port`. */
export function splitName(text: string): { scheme: string; name: string; port: string } | undefined {
  const parts = text.split(':')
  const [scheme, name, port] =
    parts.length === 3 ? parts : parts.length === 2 ? ['', parts[0], parts[1]] : ['', parts[0], '']
  if (!name || parts.length > 3 || !['', 'http', 'https'].includes(scheme ?? '')) return undefined
  return { scheme: scheme ?? '', name, port: port ?? '' }
}

/** The subresource proxy of pods: requests to a port of the pod. */
export function podProxySubresource(parts: Parts): Subresource {
  return {
    verbs: [],
    handle: async (context, resource): Promise<ApiResponse> => {
      const split = splitName(context.info.name)
      if (!split) throw newBadRequest(`invalid pod request ${goQuote(context.info.name)}`)
      const info = { ...context.info, name: split.name }
      const pod = await podOf(parts, { ...context, info }, resource)
      const spec = podSpecOf(pod)
      const ip = (pod['status'] as PodLike['status'])?.podIPs?.[0]?.ip ?? ''
      if (!parseIPSloppy(ip)?.isGlobalUnicast()) throw newBadRequest('address not allowed')
      // The addresses of simulated pods belong to nothing, or to hosts outside of the cluster.
      const refusal = parts.nodes?.refusesStreams?.(spec.nodeName ?? '')
      if (refusal !== undefined) throw newServiceUnavailable(`error trying to reach service: ${refusal}`)
      const first = (spec.containers ?? []).flatMap(({ ports }) => ports ?? [])[0]?.containerPort
      const port = split.port === '' ? first : Number(split.port)
      const backend: Backend = { scheme: split.scheme === 'https' ? 'https' : 'http', host: ip, port, tls: unverified }
      return proxyRequest(parts.kubelets.outgoing, context, backend)
    },
  }
}
