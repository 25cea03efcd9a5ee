import type { AnyKind } from '@kubewright/api'
import type { ObjectCodec } from '../../resource/object-codec.ts'
import { hasEmptyParts } from '../../resource/semantic-equal.ts'
import type { Strategy } from '../../resource/strategy.ts'
import { decodeTyped, emptyTyped, ownedTyped, recheckTyped, storedTyped, workingTyped } from './decode-typed.ts'

/** Kinds with a list or pointer that may be unset and that their JSON never leaves out. */
const kindsWithNulls: ReadonlySet<string> = new Set([
  'ClusterRole',
  'CSINode',
  'EndpointSlice',
  'LimitRange',
  'PersistentVolumeClaim',
  'Role',
])

/** The codec of a built-in kind. Objects have the forms of Go's decoder and encoder, with the defaults of the strategy. */
export function typedCodec(kind: AnyKind, strategy: Pick<Strategy, 'setDefaults'> = {}): ObjectCodec {
  return {
    decode: (body, request) => decodeTyped(kind, strategy, body, request),
    recheck: (object, options) => recheckTyped(kind, strategy, object, options),
    toWorkingForm: (object, mayShare) => workingTyped(kind, object, mayShare),
    toClientForm: (object, mayShare) => storedTyped(kind, object, mayShare),
    isExact: true,
    empty: () => emptyTyped(kind),
    needsOwnedForm: (object) => kindsWithNulls.has(kind.kind) || hasEmptyParts(object),
    toOwnedForm: (object) => ownedTyped(kind, object),
  }
}
