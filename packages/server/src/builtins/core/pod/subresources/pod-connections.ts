import {
  type ApiResponse,
  type NodeConnector,
  newBadRequest,
  newInvalid,
  newNotFound,
  type PodLogRequest,
} from '@kubewright/api'
import { parseIPSloppy } from '@kubewright/base'
import { type FieldError, FieldPath, forbidden, invalid } from '@kubewright/schema'
import type { ObjectAccess } from '../../../../registry/object-access.ts'
import type { RequestContext } from '../../../../request/request-context.ts'
import { unclassifiedError } from '../../../../request/unclassified-error.ts'
import { integerParameter } from '../../../../request/write-options.ts'
import type { MutableObject } from '../../../../resource/object.ts'
import type { Resource } from '../../../../resource/resource.ts'
import type { Subresource } from '../../../../resource/subresource.ts'
import type { PodLike } from '../pod-types.ts'
import { podSpecOf } from '../validation/validate-pod.ts'
import { visitContainers } from '../visit-containers.ts'

type Parts = ObjectAccess

/** Throws the error of a server that cannot connect to a node. */
function unreachable(): never {
  throw unclassifiedError(`no preferred addresses found; known addresses: []`)
}

async function podOf({ registry }: Parts, { info }: RequestContext, resource: Resource): Promise<MutableObject> {
  const stored = await registry.find(resource, info.namespace, info.name)
  if (!stored) throw newNotFound({ group: '', resource: 'pods' }, info.name)
  return stored.object as MutableObject
}

/** Checks that the pod has the container that the request names, or exactly one container if the request names none. */
function checkContainer(pod: MutableObject, container: string): void {
  const spec = podSpecOf(pod)
  const { name = '' } = pod.metadata
  const names: string[] = []
  visitContainers(spec, FieldPath.none, (candidate) => names.push(candidate.name ?? ''))
  if (container !== '') {
    if (!names.includes(container)) throw newBadRequest(`container ${container} is not valid for pod ${name}`)
  } else if ((spec.containers ?? []).length === 0) {
    throw newBadRequest(`a container name must be specified for pod ${name}`)
  } else if ((spec.containers ?? []).length > 1) {
    throw newBadRequest(`a container name must be specified for pod ${name}, choose one of: [${names.join(' ')}]`)
  }
}

/** Checks that the node exists, then fails to connect to it. */
async function connectToNode({ registry, resources }: Parts, node: string): Promise<never> {
  const resource = resources.find('', 'v1', 'nodes')
  const found = resource && (await registry.find(resource, '', node))
  // As in kube-apiserver: the error names the requested resource, although the node is missing.
  if (!found) throw newNotFound({ group: '', resource: 'pods' }, node)
  return unreachable()
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

/** The subresource log. The log of a pod that is not scheduled is empty. */
export function logSubresource(parts: Parts, nodes?: NodeConnector): Subresource {
  return {
    verbs: ['get'],
    handle: async (context, resource): Promise<ApiResponse> => {
      const { query } = context.request
      validateLogOptions(query, context.info.name)
      const pod = await podOf(parts, context, resource)
      checkContainer(pod, query.get('container') ?? '')
      const node = podSpecOf(pod).nodeName
      if (!node) return { status: 204, headers: { 'cache-control': 'no-cache, private' } }
      const lines = nodes?.logs(logRequest(context, pod, node))
      return lines ? logResponse(lines, context.request.signal) : connectToNode(parts, node)
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

/** The subresources exec, attach and portforward. They check the request and then fail, because the server cannot stream to nodes. */
export function streamSubresource(parts: Parts, hasContainer: boolean, nodes?: NodeConnector): Subresource {
  return {
    verbs: ['get', 'create'],
    handle: async (context, resource): Promise<ApiResponse> => {
      const pod = await podOf(parts, context, resource)
      if (hasContainer) checkContainer(pod, context.request.query.get('container') ?? '')
      const node = podSpecOf(pod).nodeName
      if (!node) throw newBadRequest(`pod ${context.info.name} does not have a host assigned`)
      const refusal = nodes?.refusesStreams?.(node)
      if (refusal !== undefined) throw newBadRequest(refusal)
      return connectToNode(parts, node)
    },
  }
}

/** Parses `name`, `name:port` or `scheme:name:port`. */
export function splitName(text: string): { scheme: string; name: string; port: string } | undefined {
  const parts = text.split(':')
  const [scheme, name, port] =
    parts.length === 3 ? parts : parts.length === 2 ? ['', parts[0], parts[1]] : ['', parts[0], '']
  if (!name || parts.length > 3 || !['', 'http', 'https'].includes(scheme ?? '')) return undefined
  return { scheme: scheme ?? '', name, port: port ?? '' }
}

/** The subresource proxy of pods. It checks the request and then fails, because the server cannot connect to pods. */
export function podProxySubresource(parts: Parts): Subresource {
  return {
    verbs: [],
    handle: async (context, resource): Promise<ApiResponse> => {
      const split = splitName(context.info.name)
      if (!split) throw newBadRequest(`invalid pod request ${JSON.stringify(context.info.name)}`)
      const info = { ...context.info, name: split.name }
      const pod = await podOf(parts, { ...context, info }, resource)
      const address = parseIPSloppy((pod['status'] as PodLike['status'])?.podIPs?.[0]?.ip ?? '')
      if (!address?.isGlobalUnicast()) throw newBadRequest('address not allowed')
      return unreachable()
    },
  }
}
