import type { AnyKind } from '@kubewright/api'
import type { ObjectCodec } from '../../resource/object-codec.ts'
import type { Strategy } from '../../resource/strategy.ts'
import { decodeTyped, emptyTyped, normalizeTyped, recheckTyped } from './decode-typed.ts'

/** The codec of a built-in kind. Objects have the forms of Go's decoder and encoder, with the defaults of the strategy. */
export function typedCodec(kind: AnyKind, strategy: Pick<Strategy, 'setDefaults'> = {}): ObjectCodec {
  return {
    decode: (body, request) => decodeTyped(kind, strategy, body, request),
    recheck: (object, options) => recheckTyped(kind, strategy, object, options),
    toWorkingForm: (object) => normalizeTyped(kind, object, false),
    toClientForm: (object) => normalizeTyped(kind, object, true),
    empty: () => emptyTyped(kind),
  }
}
