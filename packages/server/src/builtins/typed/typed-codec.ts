import type { AnyKind } from '@kubewright/api'
import type { ObjectCodec } from '../../resource/object-codec.ts'
import type { Strategy } from '../../resource/strategy.ts'
import { decodeTyped, emptyTyped, normalizeTyped, ownedTyped, recheckTyped } from './decode-typed.ts'

/** Kinds with a list that may be unset and that their JSON never leaves out. */
const kindsWithNulls: ReadonlySet<string> = new Set(['ClusterRole', 'CSINode', 'EndpointSlice', 'LimitRange', 'Role'])

/** The codec of a built-in kind. Objects have the forms of Go's decoder and encoder, with the defaults of the strategy. */
export function typedCodec(kind: AnyKind, strategy: Pick<Strategy, 'setDefaults'> = {}): ObjectCodec {
  return {
    decode: (body, request) => decodeTyped(kind, strategy, body, request),
    recheck: (object, options) => recheckTyped(kind, strategy, object, options),
    toWorkingForm: (object) => normalizeTyped(kind, object, false),
    toClientForm: (object) => normalizeTyped(kind, object, true),
    empty: () => emptyTyped(kind),
    toOwnedForm: kindsWithNulls.has(kind.kind) ? (object) => ownedTyped(kind, object) : undefined,
  }
}
