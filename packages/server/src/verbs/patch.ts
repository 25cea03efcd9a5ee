import {
  type ApiError,
  applyJsonPatch,
  applyMergePatch,
  applyStrategicMergePatch,
  decodeJsonPatch,
  decodeYaml,
  managerOrUserAgent,
  newBadRequest,
  newInvalid,
  newNotFound,
  newUnsupportedMediaType,
  parseJson,
} from '@kubewright/api'
import { deepCopy } from '@kubewright/base'
import { FieldPath, forbidden, required } from '@kubewright/schema'
import type { ApiResponse } from '../http/api-request.ts'
import { negotiate } from '../http/negotiate.ts'
import { isTrue } from '../http/request-info.ts'
import { type WriteOptions, writeOptions } from '../registry/request-options.ts'
import type { MutableObject } from '../registry/resource.ts'
import type { RequestContext } from '../request-context.ts'
import { optionsObject } from './create.ts'
import type { Endpoint } from './endpoint.ts'
import { presentObject } from './present.ts'
import { maxBodyBytes, mediaTypeOf, textOf } from './read-body.ts'
import { uniqueOwners } from './unique-owners.ts'

const jsonPatchType = 'application/json-patch+json'
const mergePatchType = 'application/merge-patch+json'
const strategicPatchType = 'application/strategic-merge-patch+json'
const applyYamlType = 'application/apply-patch+yaml'
const applyCborType = 'application/apply-patch+cbor'

/** What makes the next object out of the current one. */
type Patcher = (current: MutableObject | undefined) => MutableObject

/** Answers a PATCH of any of the four kinds. */
export async function patch(endpoint: Endpoint, context: RequestContext): Promise<ApiResponse> {
  const { query, headers } = context.request
  const { resource, subresource, registry, admission } = endpoint
  const representation = negotiate(headers['accept'], query, headers['user-agent'] ?? '', {
    conversions: true,
    streams: false,
  })
  const type = mediaTypeOf(context)
  const accepted = acceptedTypes(endpoint)
  if (!accepted.includes(type)) throw newUnsupportedMediaType(accepted)
  const options = writeOptions(query, 'PatchOptions')
  checkPatchOptions(options, query, type)
  const body = await context.request.body(maxBodyBytes)
  const patcher = makePatcher(endpoint, context, type, body, options)
  const scope = endpoint.scope(context, options)
  const { name } = context.info

  const attributes = (object: MutableObject, old: MutableObject | undefined) => ({
    context,
    resource,
    subresource,
    operation: old ? ('UPDATE' as const) : ('CREATE' as const),
    namespace: scope.namespace,
    name,
    dryRun: options.dryRun,
    object: object as MutableObject | undefined,
    old,
    options: optionsObject('PatchOptions', query),
  })
  const outcome = await registry.update(
    scope,
    name,
    async (old) => {
      const next = patcher(old)
      const asked = attributes(next, old)
      await admission.mutate(asked)
      uniqueOwners(asked.object!, context, true)
      return asked.object!
    },
    (object, old) => admission.validate(attributes(object, old)),
    { allowCreate: type === applyYamlType && subresource === '' },
  )
  const status = outcome.created ? 201 : 200
  return presentObject(status, resource, subresource, outcome.object, representation, registry.clock.now())
}

function acceptedTypes({ resource }: Endpoint): string[] {
  const types = [jsonPatchType, mergePatchType]
  // Only kinds with Go types know merge keys.
  if (resource.typedItems) types.push(strategicPatchType)
  return [...types, applyYamlType, applyCborType]
}

function checkPatchOptions(options: WriteOptions, query: URLSearchParams, type: string): void {
  const kind = { group: 'meta.k8s.io', kind: 'PatchOptions' }
  if (type === applyYamlType || type === applyCborType) {
    if (options.fieldManager === '') {
      throw newInvalid(kind, '', [required(FieldPath.of('fieldManager'), 'is required for apply patch')])
    }
  } else if (query.get('force') !== null && query.get('force') !== '') {
    throw newInvalid(kind, '', [forbidden(FieldPath.of('force'), 'may not be specified for non-apply patch')])
  }
}

function makePatcher(
  endpoint: Endpoint,
  context: RequestContext,
  type: string,
  body: Uint8Array,
  options: WriteOptions,
): Patcher {
  const { resource, subresource, groupResource } = endpoint
  const { name } = context.info
  const missing = (): ApiError => newNotFound(groupResource, name)
  if (type === applyYamlType) return applyPatcher(endpoint, context, body, options)
  const decoded = type === jsonPatchType ? decodeJsonPatch(parseJson(body)) : parseJson(body)
  return (current) => {
    if (!current) throw missing()
    const view = resource.subresources[subresource]?.view
    const before = view ? view.show(current) : current
    const after = (
      type === jsonPatchType
        ? applyJsonPatch(before, decoded as ReturnType<typeof decodeJsonPatch>)
        : type === mergePatchType
          ? applyMergePatch(before, decoded)
          : applyStrategicMergePatch(before, decoded as Record<string, unknown>, resource.schema)
    ) as MutableObject
    const checked = resource.recheck ? resource.recheck(after, options, context.warn) : after
    let next = checked
    if (view) {
      next = deepCopy(current)
      if (checked.metadata.resourceVersion) next.metadata.resourceVersion = checked.metadata.resourceVersion
      view.put(next, checked)
    }
    return endpoint.trackUpdate(current, next, context, options)
  }
}

/** Server-side apply. */
function applyPatcher(endpoint: Endpoint, context: RequestContext, body: Uint8Array, options: WriteOptions): Patcher {
  const { resource, registry, fieldManager } = endpoint
  const { value } = decodeYaml(textOf(body), { strict: options.fieldValidation !== 'Ignore' })
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw newBadRequest('error decoding YAML: the patch is not an object')
  const config = value as MutableObject
  const manager = managerOrUserAgent(options.fieldManager, context.request.headers['user-agent'] ?? '')
  const force = isTrue(context.request.query.get('force'))
  return (current) => {
    const result = fieldManager.apply(current, config, { manager, force, now: registry.timestamp() })
    const next = deepCopy(result.object) as MutableObject
    return resource.recheck ? resource.recheck(next, options, context.warn) : next
  }
}
