import { type ApiResponse, newBadRequest } from '@kubewright/api'
import type { RequestContext } from '../request/request-context.ts'
import { respond } from '../request/respond.ts'
import { writeOptions } from '../request/write-options.ts'
import type { MutableObject } from '../resource/object.ts'
import type { Endpoint } from './endpoint.ts'
import { negotiateObject } from './negotiation.ts'
import { presentObject } from './present.ts'
import { readObject } from './read-body.ts'
import { uniqueOwners } from './unique-owners.ts'

/** Answers a create: decode, admit, check, store. */
export async function create(endpoint: Endpoint, context: RequestContext): Promise<ApiResponse> {
  const { query } = context.request
  const { resource, registry, admission } = endpoint
  const representation = negotiateObject(context, endpoint.resource)
  const options = writeOptions(query, 'CreateOptions')
  const object = await readObject(context, resource, options)

  const scope = endpoint.scope(context, options)
  wipeSystemFields(object)
  matchNamespace(object, scope.namespace)
  uniqueOwners(object, context, false)
  const tracked = await endpoint.trackUpdate(undefined, object, context, options)
  const attributes = {
    context,
    resource,
    subresource: '',
    operation: 'CREATE' as const,
    namespace: scope.namespace,
    name: tracked.metadata.name ?? '',
    dryRun: options.dryRun,
    object: tracked as MutableObject | undefined,
    old: undefined,
    options: optionsObject('CreateOptions', query),
  }
  await admission.mutate(attributes)
  const admitted = attributes.object!
  uniqueOwners(admitted, context, true)
  if (resource.virtual) {
    const answer = await resource.virtual(context, admitted, () =>
      admission.validate({ ...attributes, object: admitted }),
    )
    return respond(201, answer, representation)
  }
  const stored = await registry.create(scope, admitted, async (final) => {
    await admission.validate({ ...attributes, name: attributes.name || (final.metadata.name ?? ''), object: final })
  })
  return presentObject(201, resource, '', stored, representation, registry.clock.now())
}

/** What only the server sets is dropped from a new object. */
function wipeSystemFields({ metadata }: MutableObject): void {
  delete metadata.uid
  delete metadata.creationTimestamp
  delete metadata.deletionTimestamp
  delete metadata.deletionGracePeriodSeconds
  delete metadata['selfLink']
}

/** The namespace of the path is the object's, which may say so or leave it out; an object that has none loses what it says. */
export function matchNamespace(object: MutableObject, namespace: string): void {
  const given = object.metadata.namespace ?? ''
  if (given === namespace) return
  if (given === '') object.metadata.namespace = namespace
  else if (namespace === '') delete object.metadata.namespace
  else throw newBadRequest('the namespace of the provided object does not match the namespace sent on the request')
}

/** The options of a request as an API object, which admission webhooks receive. */
export function optionsObject(kind: string, query: URLSearchParams): Record<string, unknown> {
  const options: Record<string, unknown> = { kind, apiVersion: 'meta.k8s.io/v1' }
  const dryRun = query.getAll('dryRun')
  if (dryRun.length > 0) options['dryRun'] = dryRun
  for (const name of ['fieldManager', 'fieldValidation']) {
    const value = query.get(name)
    if (value) options[name] = value
  }
  return options
}
