import type { AnyKind } from '@kubewright/api'
import type { ServedRelease } from '../../codec/served-release.ts'
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
export function typedCodec(
  release: ServedRelease,
  kind: AnyKind,
  strategy: Pick<Strategy, 'setDefaults'> = {},
): ObjectCodec {
  const type = { release, kind }
  return {
    decode: (body, request) => decodeTyped(type, strategy, body, request),
    recheck: (object, options) => recheckTyped(type, strategy, object, options),
    toWorkingForm: (object, mayShare) => workingTyped(release, kind, object, mayShare),
    toClientForm: (object, mayShare) => storedTyped(release, kind, object, mayShare),
    isExact: true,
    empty: () => emptyTyped(release, kind),
    needsOwnedForm: (object) => kindsWithNulls.has(kind.kind) || hasEmptyParts(object),
    toOwnedForm: (object) => ownedTyped(release, kind, object),
  }
}
