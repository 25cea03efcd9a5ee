import { type ApiResponse, newBadRequest } from '@kubewright/api'
import { deepCopy } from '@kubewright/base'
import type { RequestContext } from '../request/request-context.ts'
import { writeOptions } from '../request/write-options.ts'
import type { MutableObject } from '../resource/object.ts'
import { matchNamespace, optionsObject } from './create.ts'
import type { Endpoint } from './endpoint.ts'
import { negotiateObject } from './negotiation.ts'
import { presentObject } from './present.ts'
import { readObject } from './read-body.ts'
import { uniqueOwners } from './unique-owners.ts'

/** Answers a PUT: replaces the object, or the part of it that a subresource shows. */
export async function update(endpoint: Endpoint, context: RequestContext): Promise<ApiResponse> {
  const { query } = context.request
  const { resource, subresource, registry, admission } = endpoint
  const representation = negotiateObject(context, endpoint.resource)
  const options = writeOptions(query, 'UpdateOptions')
  const sub = resource.subresources[subresource]
  const body = await readObject(
    context,
    sub?.kind ? { kind: sub.kind, codec: sub.codec ?? resource.codec } : resource,
    options,
  )
  const scope = endpoint.scope(context, options)
  matchNamespace(body, scope.namespace)
  checkName(body, context.info.name)
  uniqueOwners(body, context, false)

  const attributes = (object: MutableObject, old: MutableObject | undefined) => ({
    context,
    resource,
    subresource,
    operation: old ? ('UPDATE' as const) : ('CREATE' as const),
    namespace: scope.namespace,
    name: context.info.name,
    dryRun: options.dryRun,
    object: object as MutableObject | undefined,
    old,
    options: optionsObject(old ? 'UpdateOptions' : 'CreateOptions', query),
  })
  const outcome = await registry.update(
    scope,
    context.info.name,
    (stored) =>
      endpoint.change(stored, async (old) => {
        const tracked = await endpoint.trackUpdate(old, deepCopy(body), context, options)
        const asked = attributes(tracked, old)
        await admission.mutate(asked)
        uniqueOwners(asked.object!, context, true)
        return asked.object!
      }),
    async (object, old) => {
      // Who may update need not be allowed to create.
      if (!old) await context.authorize('create')
      await admission.validate(attributes(endpoint.showForReview(object), old && endpoint.showForReview(old)))
    },
    { uid: body.metadata.uid || undefined },
  )
  const status = outcome.created ? 201 : 200
  return presentObject(status, resource, subresource, outcome.object, representation, registry.clock.now())
}

/** The name in the object must be the one in the path. */
export function checkName(object: MutableObject, name: string): void {
  const given = object.metadata.name ?? ''
  if (given === '') {
    throw newBadRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`)
  }
  if (given !== name) {
    throw newBadRequest(`the name of the object (${given}) does not match the name on the URL (${name})`)
  }
}
