import {
  type AnyKind,
  type ApiResponse,
  createFieldManager,
  type FieldManager,
  managerOrUserAgent,
  newBadRequest,
  zeroObject,
} from '@kubewright/api'
import { matchNamespace } from '../../registry/match-namespace.ts'
import { negotiate } from '../../request/negotiate.ts'
import type { RequestContext } from '../../request/request-context.ts'
import { respond } from '../../request/respond.ts'
import { optionsObject, writeOptions } from '../../request/write-options.ts'
import type { MutableObject } from '../../resource/object.ts'
import type { Resource } from '../../resource/resource.ts'
import type { Subresource } from '../../resource/subresource.ts'
import { readObject } from '../../verbs/read-object.ts'
import type { BuiltinParts } from '../builtin-parts.ts'
import { typedCodec } from '../typed/typed-codec.ts'

/** A request to an action subresource. */
export interface SubresourceAction {
  readonly context: RequestContext
  readonly resource: Resource
  /** The object after mutating admission. */
  readonly body: MutableObject
  readonly dryRun: boolean
  /** Runs validating admission. To be called after the body has been checked. */
  readonly admit: () => Promise<void>
}

/** A subresource that performs an action for a posted object of another kind and answers with a Status. */
export function actionSubresource(
  parts: Pick<BuiltinParts, 'admission' | 'registry'>,
  name: string,
  kind: AnyKind,
  act: (action: SubresourceAction) => Promise<void>,
): Subresource {
  const codec = typedCodec(kind)
  let managers: FieldManager | undefined
  const fieldManager = (): FieldManager => (managers ??= fieldManagerOf(kind, name))
  const handle = async (context: RequestContext, resource: Resource): Promise<ApiResponse> => {
    const { query, headers } = context.request
    const offers = { conversions: false, streams: false }
    const representation = negotiate(context.request, offers)
    const options = writeOptions(query, 'CreateOptions')
    const body = await readObject(context, { kind, codec }, options)
    matchNamespace(body, context.info.namespace)
    const manager = managerOrUserAgent(options.fieldManager, headers['user-agent'] ?? '')
    const object = fieldManager().updateNoErrors(undefined, body, { manager, now: parts.registry.timestamp() })
    const { admission } = parts
    const attributes = {
      context,
      resource,
      subresource: name,
      operation: 'CREATE' as const,
      namespace: context.info.namespace,
      name: context.info.name,
      dryRun: options.dryRun,
      object: object as MutableObject | undefined,
      old: undefined,
      options: optionsObject('CreateOptions', query),
    }
    await admission.mutate(attributes)
    const admitted = attributes.object!
    if (admitted.metadata.name !== context.info.name) {
      throw newBadRequest(`name in URL does not match name in ${kind.kind} object`)
    }
    await act({
      context,
      resource,
      body: admitted,
      dryRun: options.dryRun,
      admit: () => admission.validate({ ...attributes, object: admitted }),
    })
    return respond(201, success, representation)
  }
  return { verbs: ['create'], handle, kind, codec }
}

/** The field manager of the posted kind. Admission sees managed fields, although the object is not stored. */
function fieldManagerOf(kind: AnyKind, subresource: string): FieldManager {
  return createFieldManager({
    apiVersion: kind.apiVersion,
    kind: kind.kind,
    subresource,
    schemaFor: (apiVersion) => (apiVersion === kind.apiVersion ? kind.schema : undefined),
    emptyObject: zeroObject(kind.apiVersion, kind.kind, kind.schema),
  })
}

/** The Status of a successful action. */
export const success: Readonly<Record<string, unknown>> = {
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Success',
  code: 201,
}
