import { type ApiResponse, newBadRequest, newConflict, newUnsupportedMediaType } from '@kubewright/api'
import { FieldPath, forbidden, required } from '@kubewright/schema'
import { maxBodyBytes, mediaTypeOf } from '../request/body.ts'
import type { RequestContext } from '../request/request-context.ts'
import { unsupportedMediaType } from '../request/route-errors.ts'
import { writeOptions } from '../request/write-options.ts'
import type { MutableObject } from '../resource/object.ts'
import { matchNamespace, optionsObject } from './create.ts'
import type { Endpoint } from './endpoint.ts'
import { negotiateObject } from './negotiation.ts'
import { applyYamlType, jsonPatchType, makePatcher, mergePatchType, strategicPatchType } from './patchers.ts'
import { presentObject } from './present.ts'
import { uniqueOwners } from './unique-owners.ts'
import { checkName } from './update.ts'

/** Answers a PATCH of any of the four kinds. */
export async function patch(endpoint: Endpoint, context: RequestContext): Promise<ApiResponse> {
  const { query } = context.request
  const { resource, subresource, registry, admission } = endpoint
  const type = mediaTypeOf(context)
  const accepted = acceptedTypes(endpoint)
  if (!accepted.includes(type))
    throw resource.origin.hasRoutes ? unsupportedMediaType() : newUnsupportedMediaType(accepted)
  if (context.info.name === '') throw newBadRequest('name must be provided')
  const representation = negotiateObject(context, endpoint.resource)
  const body = await context.request.body(maxBodyBytes)
  const options = writeOptions(query, 'PatchOptions', (errors) => checkPatchOptions(errors, query, type))
  const patcher = makePatcher(type, { endpoint, context, body, options })
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
    options: optionsObject(old ? 'UpdateOptions' : 'CreateOptions', query),
  })
  const outcome = await registry.update(
    scope,
    name,
    (stored) =>
      endpoint.change(stored, async (old) => {
        const next = await patcher(old)
        if (!old && next.metadata.uid) {
          const why = `uid mismatch: the provided object specified uid ${next.metadata.uid}, and no existing object was found`
          throw newConflict(endpoint.groupResource, name, why)
        }
        matchNamespace(next, scope.namespace)
        checkName(next, name)
        const asked = attributes(next, old)
        await admission.mutate(asked)
        uniqueOwners(asked.object!, context, true)
        return asked.object!
      }),
    async (object, old) => {
      // Who may update need not be allowed to create.
      if (!old) await context.authorize('create')
      await admission.validate(attributes(endpoint.showForReview(object), old && endpoint.showForReview(old)))
    },
    { allowCreate: type === applyYamlType && subresource === '' },
  )
  const status = outcome.created ? 201 : 200
  return presentObject(status, resource, subresource, outcome.object, representation, registry.clock.now())
}

function acceptedTypes({ resource }: Endpoint): string[] {
  const types = [jsonPatchType, mergePatchType]
  if (resource.origin.supportsStrategicMergePatch) types.push(strategicPatchType)
  return [...types, applyYamlType]
}

type FieldErrors = Parameters<NonNullable<Parameters<typeof writeOptions>[2]>>[0]

/** What apply needs and other patches must not have (meta/v1/validation.ValidatePatchOptions). */
function checkPatchOptions(errors: FieldErrors, query: URLSearchParams, type: string): void {
  if (type !== applyYamlType) {
    if (query.get('force')) errors.push(forbidden(FieldPath.of('force'), 'may not be specified for non-apply patch'))
  } else if (!query.get('fieldManager')) {
    errors.push(required(FieldPath.of('fieldManager'), 'is required for apply patch'))
  }
}
