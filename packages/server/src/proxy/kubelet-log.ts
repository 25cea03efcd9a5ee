import {
  type ApiError,
  type ApiResponse,
  newBadRequest,
  newGenericServerResponse,
  newInternalError,
} from '@kubewright/api'
import { linkSignals } from '@kubewright/base'
import type { Outgoing, OutgoingResponse } from '../outgoing/outgoing.ts'
import type { RequestContext } from '../request/request-context.ts'
import { unclassifiedError } from '../request/unclassified-error.ts'
import { type Backend, urlOf } from './backend.ts'
import { passOn } from './proxy-response.ts'

/** The longest error text of a kubelet that is passed on. */
const maxErrorBytes = 50_000
/** In the order in which Go encodes queries. */
const options = ['follow', 'limitBytes', 'previous', 'sinceSeconds', 'sinceTime', 'tailLines', 'timestamps']
const flags: ReadonlySet<string> = new Set(['follow', 'previous', 'timestamps'])

/** Streams the log of a container from its kubelet (pkg/registry/core/pod/strategy.go, LogLocation). */
export async function kubeletLog(
  outgoing: Outgoing,
  kubelet: Backend,
  { context, container }: { readonly context: RequestContext; readonly container: string },
): Promise<ApiResponse> {
  const { info, request } = context
  const query = new URLSearchParams()
  for (const name of options) {
    const value = request.query.get(name)
    if (!value) continue
    if (!flags.has(name)) query.append(name, value)
    else if (value !== '0' && value.toLowerCase() !== 'false') query.append(name, 'true')
  }
  const path = ['containerLogs', info.namespace, info.name, container].map(encodeURIComponent).join('/')
  const target = `/${path}${query.size === 0 ? '' : `?${query}`}`
  // Must be disposed on every path: after the body or on failure.
  const link = linkSignals(request.signal)
  try {
    const url = urlOf(kubelet, '/')
    const response = await outgoing({
      method: 'GET',
      url,
      target,
      headers: {},
      tls: kubelet.tls,
      signal: link.signal,
    }).catch((error: unknown) => {
      if (request.signal.aborted) throw request.signal.reason
      throw unclassifiedError(`Get ${JSON.stringify(`${url.origin}${target}`)}: ${(error as Error).message}`)
    })
    if (response.status < 200 || response.status > 206) throw await refusalOf(response, info.name)
    const headers = { 'content-type': 'text/plain', 'cache-control': 'no-cache, private' }
    return { ...passOn(response, request.signal, () => link[Symbol.dispose]()), status: 200, headers }
  } catch (error) {
    link[Symbol.dispose]()
    throw error
  }
}

/** The error of a kubelet as kube-apiserver reports it (apiserver/pkg/registry/generic/rest/response_checker.go). */
async function refusalOf({ status, body }: OutgoingResponse, name: string): Promise<ApiError> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body) {
    chunks.push(chunk)
    size += chunk.length
    if (size > maxErrorBytes) break
  }
  const text = Buffer.concat(chunks).subarray(0, maxErrorBytes).toString()
  if (status === 500) return newInternalError(new Error(text))
  if (status === 400) return newBadRequest(text)
  return newGenericServerResponse({
    code: status,
    verb: '',
    resource: { group: '', resource: 'pods/log' },
    name,
    serverMessage: text,
  })
}
