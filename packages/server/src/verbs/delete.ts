import { type ApiResponse, newBadRequest, newUnsupportedMediaType, parseJson, parseYaml } from '@kubewright/api'
import { decodeGo, GoDecodeError, typeMetaMismatch } from '../codec/json/go-codec.ts'
import { decodeMessage, openEnvelope } from '../codec/protobuf/envelope.ts'
import {
  type DeleteOptions,
  type DeleteOutcome,
  deleteObject,
  validateDeleteOptions,
} from '../registry/delete-object.ts'
import { maxBodyBytes, mediaTypeOf, textOf } from '../request/body.ts'
import { isServed, type MediaType, servedTypes } from '../request/negotiate.ts'
import type { RequestContext } from '../request/request-context.ts'
import { isTrue } from '../request/request-info.ts'
import { respond } from '../request/respond.ts'
import { integerParameter } from '../request/write-options.ts'
import type { Endpoint } from './endpoint.ts'
import { collect, presentList } from './list.ts'
import { listOptions } from './list-options.ts'
import { negotiateObject } from './negotiation.ts'
import { presentObject } from './present.ts'
import { selectionOf } from './selection.ts'

/** Answers a DELETE of one object. */
export async function remove(endpoint: Endpoint, context: RequestContext): Promise<ApiResponse> {
  const { resource, registry } = endpoint
  const representation = negotiateObject(context, endpoint.resource)
  const options = await readDeleteOptions(context)
  const { object, removed } = await removeOne(endpoint, context, context.info.name, options)
  // An object that stays for a while, or whose kind says so, is shown; one that is gone is reported.
  if (!removed || resource.strategy.returnDeletedObject) {
    // The old way to ask for cascading deletion is told that it takes a while.
    const status = !removed && options.orphanDependents === false ? 202 : 200
    return presentObject(status, resource, '', object, representation, registry.clock.now())
  }
  const { group, plural } = resource.kind
  const details = {
    name: context.info.name,
    ...(group === '' ? {} : { group }),
    kind: plural,
    uid: object.object.metadata.uid,
  }
  const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details }
  return respond(200, status, { mediaType: representation.mediaType, pretty: representation.pretty })
}

function removeOne(
  endpoint: Endpoint,
  context: RequestContext,
  name: string,
  options: DeleteOptions,
  askedFor = name,
): Promise<DeleteOutcome> {
  const { resource, registry, admission } = endpoint
  const dryRun = (options.dryRun ?? []).length > 0
  const scope = endpoint.scope(context, { dryRun })
  return deleteObject(registry, scope, name, options, async (old, grace) => {
    const attributes = {
      context,
      resource,
      subresource: '',
      operation: 'DELETE' as const,
      namespace: scope.namespace || (old.metadata.namespace ?? ''),
      name: askedFor,
      dryRun,
      object: undefined,
      old,
      options: {
        ...options,
        ...(grace === undefined ? {} : { gracePeriodSeconds: grace }),
        kind: 'DeleteOptions',
        apiVersion: 'meta.k8s.io/v1',
      },
    }
    await admission.mutate(attributes)
    await admission.validate(attributes)
  })
}

/** Answers a DELETE of a collection: every object that the selectors choose, one after the other. */
export async function removeCollection(endpoint: Endpoint, context: RequestContext): Promise<ApiResponse> {
  const { query } = context.request
  const representation = negotiateObject(context, endpoint.resource)
  const selection = selectionOf(endpoint.resource, query)
  const options = await readDeleteOptions(context)
  validateDeleteOptions(options)
  const listing = await collect(endpoint, context, listOptions(query, false), selection)
  for (const object of listing.objects) {
    // Nobody asked for this one by its name, and admission is not told one.
    await removeOne(endpoint, context, object.object.metadata.name!, options, '').catch((error: unknown) => {
      // Somebody else was faster.
      if ((error as { reason?: string }).reason !== 'NotFound') throw error
    })
  }
  return presentList(endpoint, listing, representation)
}

/** Reads delete options from the body, or from the query when there is no body. */
export async function readDeleteOptions(context: RequestContext): Promise<DeleteOptions> {
  const body = await context.request.body(maxBodyBytes)
  if (body.length === 0) return queryOptions(context.request.query)
  const type = mediaTypeOf(context)
  if (!isServed(type)) throw newUnsupportedMediaType(servedTypes)
  const value = parseDeleteOptions(body, type)
  if (value !== null && (typeof value !== 'object' || Array.isArray(value))) {
    throw newBadRequest(`couldn't get version/kind; json parse error: ${typeMetaMismatch(value)}`)
  }
  const { kind, apiVersion } = (value ?? {}) as { kind?: unknown; apiVersion?: unknown }
  // Clients of every group send options in their own version.
  if (typeof kind === 'string' && kind !== '' && kind !== 'DeleteOptions') {
    const scheme = 'k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme/register.go:27'
    throw newBadRequest(
      `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion ?? '')} in scheme ${JSON.stringify(scheme)}`,
    )
  }
  try {
    return decodeGo('meta/v1.DeleteOptions', value) as DeleteOptions
  } catch (error) {
    throw error instanceof GoDecodeError ? newBadRequest(error.message) : error
  }
}

function parseDeleteOptions(body: Uint8Array, type: MediaType): unknown {
  const isProtobuf = type === 'application/vnd.kubernetes.protobuf'
  try {
    if (isProtobuf) {
      const { apiVersion, kind, message } = openEnvelope(body)
      return { apiVersion, kind, ...decodeMessage('meta/v1.DeleteOptions', message) }
    }
    return type === 'application/yaml' ? parseYaml(textOf(body)) : parseJson(body)
  } catch (error) {
    const syntax = isProtobuf ? '' : `couldn't get version/kind; json parse error: `
    throw newBadRequest(`${syntax}${(error as Error).message}`)
  }
}

function queryOptions(query: URLSearchParams): DeleteOptions {
  const grace = integerParameter(query, 'gracePeriodSeconds')
  const policy = query.get('propagationPolicy')
  const orphan = query.get('orphanDependents')
  const dryRun = query.getAll('dryRun')
  const [uid, resourceVersion] = [query.get('uid'), query.get('resourceVersion')]
  const preconditions = { ...(uid ? { uid } : {}), ...(resourceVersion ? { resourceVersion } : {}) }
  return {
    ...(grace === undefined ? {} : { gracePeriodSeconds: grace }),
    ...(policy === null || policy === '' ? {} : { propagationPolicy: policy }),
    ...(orphan === null ? {} : { orphanDependents: isTrue(orphan) }),
    ...(dryRun.length === 0 ? {} : { dryRun }),
    ...(Object.keys(preconditions).length === 0 ? {} : { preconditions }),
  }
}
