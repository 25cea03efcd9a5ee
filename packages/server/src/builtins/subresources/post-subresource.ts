import {
  type AnyKind,
  type ApiResponse,
  createFieldManager,
  type FieldManager,
  managerOrUserAgent,
  zeroObject,
} from '@kubewright/api'
import { unreachable } from '@kubewright/base'
import type { GroupVersionKind } from '@kubewright/k8s/releases'
import { matchNamespace } from '../../registry/match-namespace.ts'
import { negotiate } from '../../request/negotiate.ts'
import type { RequestContext } from '../../request/request-context.ts'
import { optionsObject, writeOptions } from '../../request/write-options.ts'
import type { MutableObject } from '../../resource/object.ts'
import type { Resource } from '../../resource/resource.ts'
import type { Strategy } from '../../resource/strategy.ts'
import type { Subresource } from '../../resource/subresource.ts'
import { presentUnstored } from '../../verbs/present.ts'
import { readObject, requireObjectType } from '../../verbs/write/read-object.ts'
import type { BuiltinServer } from '../define-builtin.ts'
import { typedCodec } from '../typed/typed-codec.ts'

/** An object that a client has posted to a subresource. */
export interface PostedObject {
  readonly context: RequestContext
  /** The resource that the subresource belongs to. */
  readonly resource: Resource
  /** The object after mutating admission. The handler may change it. */
  readonly object: MutableObject
  readonly dryRun: boolean
  /** Runs validating admission. The handler must call it once, after it has checked the object. */
  readonly admit: () => Promise<void>
}

/** An object without values. */
export type ZeroObject = ReturnType<typeof zeroObject>

/** A subresource that accepts POST of an object of its own kind. */
export interface PostSubresource {
  /** Name of the subresource. */
  readonly name: string
  /** The kind that clients post. */
  readonly kind: GroupVersionKind
  readonly setDefaults?: Strategy['setDefaults'] | undefined
  /** Completes the object without values that managed fields are compared with. @default unchanged */
  readonly emptyObject?: ((zero: ZeroObject) => ZeroObject) | undefined
}

/**
 * Builds a subresource that decodes a posted object, runs admission and passes the object to `handle`, whose result is the body of the
 * response. The object itself is not stored.
 */
export function postSubresource(
  { admission, registry, resources }: Pick<BuiltinServer, 'admission' | 'registry' | 'resources'>,
  definition: PostSubresource,
  handle: (posted: PostedObject) => Promise<Readonly<Record<string, unknown>>>,
): Subresource {
  const { release } = resources
  const kind = release.facts.kindFor(definition.kind)
  if (!kind) unreachable(`${definition.kind.kind} is not a built-in kind`)
  const codec = typedCodec(release, kind, definition.setDefaults ? { setDefaults: definition.setDefaults } : {})
  let managers: FieldManager | undefined
  const answer = async (context: RequestContext, resource: Resource): Promise<ApiResponse> => {
    const { request, info } = context
    const representation = negotiate(request, { conversions: 'metadata', streams: false }, release)
    requireObjectType(context)
    const options = writeOptions(request.query, 'CreateOptions')
    const body = await readObject(context, { kind, codec, release }, options)
    matchNamespace(body, info.namespace)
    managers ??= fieldManagerOf(kind, definition)
    const manager = managerOrUserAgent(options.fieldManager, request.headers['user-agent'] ?? '')
    // Admission sees managed fields, although the object is not stored.
    const tracked = managers.updateNoErrors(undefined, body, { manager, now: registry.timestamp() }) as MutableObject
    const attributes = {
      context,
      resource,
      subresource: definition.name,
      operation: 'CREATE' as const,
      namespace: info.namespace,
      name: info.name,
      dryRun: options.dryRun,
      object: tracked as MutableObject | undefined,
      old: undefined,
      options: optionsObject('CreateOptions', request.query),
    }
    await admission.mutate(attributes)
    const object = attributes.object!
    const admit = async (): Promise<void> => admission.validate({ ...attributes, object })
    const result = await handle({ context, resource, object, dryRun: options.dryRun, admit })
    return presentUnstored(201, result, resource, representation)
  }
  return { verbs: ['create'], handle: answer, kind, codec }
}

function fieldManagerOf(kind: AnyKind, { name, emptyObject }: PostSubresource): FieldManager {
  const zero = zeroObject(kind.apiVersion, kind.kind, kind.schema)
  return createFieldManager({
    apiVersion: kind.apiVersion,
    kind: kind.kind,
    subresource: name,
    schemaFor: (apiVersion) => (apiVersion === kind.apiVersion ? kind.schema : undefined),
    emptyObject: emptyObject?.(zero) ?? zero,
  })
}
