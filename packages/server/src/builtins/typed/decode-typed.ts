import {
  type AnyKind,
  type ApiError,
  decodeJson,
  decodeYaml,
  encodeJson,
  isApiError,
  newBadRequest,
  parseGroupVersion,
  parseJsonFloats,
} from '@kubewright/api'
import { goQuote, isJsonObject, scanJson } from '@kubewright/base'
import { goTypeOfKind, printGoType } from '../../codec/go-declarations.ts'
import {
  DecodeState,
  decodeOnce,
  type GoCodec,
  GoDecodeError,
  typeMetaMismatch,
  typeMetaProblem,
} from '../../codec/json/go-codec.ts'
import { decodeObject } from '../../codec/protobuf/decode-object.ts'
import type { ServedRelease } from '../../codec/served-release.ts'
import { warnStrictly } from '../../request/strict-warnings.ts'
import { yamlTextOf } from '../../request/yaml-text.ts'
import type { MutableObject } from '../../resource/object.ts'
import type { DecodeRequest, Rechecked, RecheckOptions } from '../../resource/object-codec.ts'
import type { Strategy } from '../../resource/strategy.ts'
import { isFormerVersion } from './former-versions.ts'

/** A kind of a release. */
export interface BuiltinType {
  readonly release: ServedRelease
  readonly kind: AnyKind
}

/** A decoded object and the errors of strict field validation. */
interface Typed {
  readonly object: MutableObject
  readonly strictErrors: readonly string[]
}

/**
 * Decodes a body into a built-in kind as Go's decoder does: it drops unknown fields and reports them as `fieldValidation` requires,
 * converts values to the form in which Go encodes them, completes kind and apiVersion, and fills defaults. Throws BadRequest with the
 * messages of Go's decoder.
 */
export function decodeTyped(
  type: BuiltinType,
  strategy: Pick<Strategy, 'setDefaults'>,
  body: Uint8Array,
  request: DecodeRequest,
): MutableObject {
  const { kind } = type
  const { value, strictErrors } = parsed(type, body, request)
  request.check?.(value)
  const { gvk, own } = identify(type, value, body)
  const reject = (why: string): never => {
    throw newBadRequest(`${gvk.kind} in version ${goQuote(gvk.version)} cannot be handled as a ${kind.kind}: ${why}`)
  }
  if (!own) {
    if (isSameType(type, gvk)) {
      const data = gvk.group === '' ? gvk.version : `${gvk.group}/${gvk.version}`
      throw newBadRequest(
        `the API version in the data (${data}) does not match the expected API version (${kind.apiVersion})`,
      )
    }
    reject(whyNot(type, gvk, value))
  }
  let typed: Typed
  try {
    typed = typedValue(type, value, request.mediaType === 'application/json' ? body : undefined)
  } catch (error) {
    if (error instanceof GoDecodeError) return reject(error.message)
    throw error
  }
  const found = request.fieldValidation === 'Ignore' ? [] : [...strictErrors, ...typed.strictErrors]
  if (found.length > 0) {
    if (request.fieldValidation === 'Strict') reject(`strict decoding error: ${found.join(', ')}`)
    if (request.fieldValidation === 'Warn') warnStrictly(found, request.warn)
  }
  return complete(kind, strategy, typed.object)
}

/** Decodes the result of a patch. Throws {@link GoDecodeError} if it does not fit the type. */
export function recheckTyped(
  type: BuiltinType,
  strategy: Pick<Strategy, 'setDefaults'>,
  object: MutableObject,
  options: RecheckOptions,
): Rechecked {
  const { kind } = type
  const problem = typeMetaProblem(object)
  // A map is converted field by field, and the conversion reports the problem itself.
  if (problem !== undefined && options.source === 'json') throw new GoDecodeError(problem)
  // A patch may have removed either of them.
  const name = (object.kind as string | null | undefined) ?? kind.kind
  const apiVersion = (object.apiVersion as string | null | undefined) ?? kind.apiVersion
  // The conversion of a map does not compare kind and apiVersion either.
  const differs = name !== kind.kind || apiVersion !== kind.apiVersion
  if (problem === undefined && options.source === 'json' && differs) {
    const { group, version } = parseGroupVersion(apiVersion)
    throw new GoDecodeError(whyNot(type, { group, version, kind: name }, object))
  }
  const typed = typedValue(type, object, options.strict ? () => encodeJson(object) : undefined, options.source)
  // The errors of a map are sorted; those of a JSON text are in the order of the text.
  const strictErrors = options.source === 'map' ? [...typed.strictErrors].sort() : typed.strictErrors
  return { object: complete(kind, strategy, typed.object), strictErrors }
}

/** The form that Go has in memory: empty lists are kept, unset ones are absent. */
export function workingTyped(
  release: ServedRelease,
  kind: AnyKind,
  object: Readonly<MutableObject>,
  shares = false,
): MutableObject {
  return codecOf(release, kind).decode(object, new DecodeState({ inMemory: true, shares })) as MutableObject
}

/** The stored form, with the nulls that Go writes. */
export function storedTyped(
  release: ServedRelease,
  kind: AnyKind,
  object: Readonly<MutableObject>,
  shares = false,
): MutableObject {
  return codecOf(release, kind).decode(object, new DecodeState({ nulls: true, shares })) as MutableObject
}

/**
 * The form in which managed fields are computed: that of the JSON which Go writes for an object in memory. Unset lists that JSON shows are
 * null; empty lists are kept only where JSON shows them.
 */
export function ownedTyped(release: ServedRelease, kind: AnyKind, object: Readonly<MutableObject>): MutableObject {
  return codecOf(release, kind).decode(object, new DecodeState({ nulls: true, keepEmpty: true })) as MutableObject
}

/** An object of the kind without values, with the fields that Go's encoder never omits. */
export function emptyTyped(release: ServedRelease, kind: AnyKind): MutableObject {
  return { ...(codecOf(release, kind).zero(true) as MutableObject), kind: kind.kind, apiVersion: kind.apiVersion }
}

function codecOf({ json }: ServedRelease, { group, version, kind }: Identity): GoCodec {
  return json.codec(goTypeOfKind(group, version, kind))
}

/** Parses the text of a body. Duplicate and unknown fields of YAML are reported here, those of JSON later. */
function parsed({ release, kind }: BuiltinType, body: Uint8Array, request: DecodeRequest): Typed & { value: unknown } {
  try {
    if (request.mediaType === 'application/vnd.kubernetes.protobuf') {
      const value = decodeObject(release, body, kind)
      return { value, strictErrors: [], object: value as MutableObject }
    }
    if (request.mediaType === 'application/yaml') {
      const strict = request.fieldValidation !== 'Ignore'
      const { value, strictErrors } = decodeYaml(yamlTextOf(body), strict ? { strict, schema: kind.schema } : {})
      return { value, strictErrors, object: value as MutableObject }
    }
    const { value } = decodeJson(body)
    return { value, strictErrors: [], object: value as MutableObject }
  } catch (error) {
    if (isApiError(error)) throw error
    const syntax = request.mediaType !== 'application/json' ? '' : `couldn't get version/kind; json parse error: `
    throw unrecognized(kind, `${syntax}${(error as Error).message}`, body)
  }
}

function unrecognized(kind: AnyKind, why: string, body: Uint8Array): ApiError {
  return newBadRequest(`the object provided is unrecognized (must be of type ${kind.kind}): ${why} (${summary(body)})`)
}

/** The beginning of a body, for error messages. */
export function summary(body: Uint8Array): string {
  if (body.length === 0) return '<empty>'
  const start = Buffer.from(body.buffer, body.byteOffset, Math.min(body.length, 30))
  return start.toString(body[0] === 0x7b ? 'utf8' : 'hex') + (body.length > 30 ? ' ...' : '')
}

interface Identity {
  readonly group: string
  readonly version: string
  readonly kind: string
}

/** Former versions that an endpoint accepts besides its own, because both are identical. */
const alikeVersions: Readonly<Record<string, string>> = { Eviction: 'policy/v1beta1' }

/** The group, version and kind of a body, completed by those of the endpoint. `own` states whether they match the endpoint. */
function identify({ kind }: BuiltinType, value: unknown, body: Uint8Array): { gvk: Identity; own: boolean } {
  if (!isJsonObject(value)) {
    if (value === null) return { gvk: kind, own: true }
    throw unrecognized(kind, `couldn't get version/kind; json parse error: ${typeMetaMismatch(value)}`, body)
  }
  const given = value as { apiVersion?: unknown; kind?: unknown }
  const problem = typeMetaProblem(given)
  if (problem !== undefined) throw unrecognized(kind, problem, body)
  // `/v1` is another way to write the core group.
  const apiVersion = ((given.apiVersion ?? '') as string).replace(/^\/(?=[^/]*$)/, '')
  const name = (given.kind ?? '') as string
  const ownVersion = apiVersion === '' || apiVersion === kind.apiVersion || apiVersion === alikeVersions[kind.kind]
  if (ownVersion && (name === '' || name === kind.kind)) return { gvk: kind, own: true }
  if (apiVersion.split('/').length > 2) {
    throw unrecognized(kind, `unexpected GroupVersion string: ${apiVersion}`, body)
  }
  const { group, version } = apiVersion === '' ? kind : parseGroupVersion(apiVersion)
  return { gvk: { group, version, kind: name || kind.kind }, own: false }
}

/** Whether a body is another version of the same kind, which the server can convert. Events of both groups are one kind. */
function isSameType({ release, kind }: BuiltinType, gvk: Identity): boolean {
  if (gvk.kind !== kind.kind) return false
  if (isFormerVersion(`${gvk.group}/${gvk.version}`, gvk.kind)) return true
  return (gvk.group === kind.group || kind.kind === 'Event') && release.facts.kindFor(gvk) !== undefined
}

/** Kinds of metav1 that are registered in every group version. */
const sharedKinds = [
  'WatchEvent',
  'ListOptions',
  'GetOptions',
  'DeleteOptions',
  'CreateOptions',
  'UpdateOptions',
  'PatchOptions',
]

const listKinds = new WeakMap<ServedRelease, ReadonlySet<string>>()

/** The error for a body of another type. kube-apiserver decodes the body as that type before it tries to convert it. */
function whyNot(type: BuiltinType, gvk: Identity, value: unknown): string {
  const { release } = type
  const other = release.facts.kindFor(gvk)
  try {
    if (other) decodeOnce(codecOf(release, other), value, new DecodeState())
  } catch (error) {
    if (error instanceof GoDecodeError) return error.message
    throw error
  }
  return notConvertible(type, gvk)
}

function notConvertible({ release, kind }: BuiltinType, gvk: Identity): string {
  const apiVersion = gvk.group === '' ? gvk.version : `${gvk.group}/${gvk.version}`
  const retired = isFormerVersion(apiVersion, gvk.kind)
  if (!retired && !release.facts.kindFor(gvk) && !listKindsOf(release).has(`${apiVersion}/${gvk.kind}`)) {
    return `no kind ${goQuote(gvk.kind)} is registered for version ${goQuote(apiVersion)} in scheme ${goQuote(schemeOf(kind.group))}`
  }
  const from = retired ? `${gvk.version}.${gvk.kind}` : printGoType(goTypeOfKind(gvk.group, gvk.version, gvk.kind))
  const target = goTypeOfKind(kind.group, kind.version, kind.kind)
  return `converting (${from}) to (${target.slice(0, target.indexOf('/'))}.${kind.kind}): unknown conversion`
}

function listKindsOf(release: ServedRelease): ReadonlySet<string> {
  let names = listKinds.get(release)
  if (!names) {
    names = new Set([
      ...release.facts.kinds.flatMap(({ apiVersion: version, listKind }) =>
        [listKind, ...sharedKinds].map((name) => `${version}/${name}`),
      ),
      ...['List', 'Status', 'APIVersions', 'APIGroup', 'APIGroupList', 'APIResourceList'].map((name) => `v1/${name}`),
    ])
    listKinds.set(release, names)
  }
  return names
}

/** The name of the scheme of a group in error messages: the line of code that creates it. */
function schemeOf(group: string): string {
  if (group === 'apiextensions.k8s.io') return 'k8s.io/apiextensions-apiserver/pkg/apiserver/apiserver.go:55'
  if (group === 'apiregistration.k8s.io') return 'k8s.io/kube-aggregator/pkg/apiserver/scheme/scheme.go:28'
  return 'pkg/api/legacyscheme/scheme.go:30'
}

/**
 * Decodes a parsed value. With its source text, it reports duplicate and unknown fields. The text is parsed a second time, to locate them,
 * only if the number of members differs or a field is unknown. `rechecked` is what an object without a body was built from.
 */
function typedValue(
  { release, kind }: BuiltinType,
  value: unknown,
  source: Uint8Array | (() => string) | undefined,
  rechecked?: RecheckOptions['source'],
): Typed {
  const codec = codecOf(release, kind)
  const isText = source !== undefined && typeof source !== 'function'
  // The result of a patch may share parts with the object that was patched.
  const copiesRaw = rechecked !== undefined
  const state = new DecodeState({ inMemory: true, words: rechecked ?? 'json', counts: isText, copiesRaw })
  let object = isText ? decodeExactly(codec, value, state, source as Uint8Array) : decodeOnce(codec, value, state)
  let strictErrors: readonly string[] = []
  const scan = isText ? scanJson(source) : undefined
  if (scan?.hasFloats) {
    // Decodes a second time, with literals instead of numbers, to find integers that are written as floats.
    decodeOnce(codec, parseJsonFloats(source as Uint8Array), new DecodeState())
  }
  if (source && (state.unknown || (scan && scan.members !== state.members))) {
    const text = typeof source === 'function' ? source() : source
    const strict = readStrictly(text, kind)
    strictErrors = strict.strictErrors
    // The strict parser merges repeated objects, as Go does when it decodes twice into one struct.
    if (typeof source !== 'function' && strictErrors.length > 0)
      object = decodeOnce(codec, strict.value, new DecodeState({ inMemory: true, repeated: true }))
  }
  return { object: object as MutableObject, strictErrors }
}

/** As {@link decodeOnce}. An error names a number as it is written, which a large integer is not once it is parsed. */
function decodeExactly(codec: GoCodec, value: unknown, state: DecodeState, source: Uint8Array): unknown {
  try {
    return decodeOnce(codec, value, state)
  } catch (error) {
    decodeOnce(codec, parseJsonFloats(source), new DecodeState())
    throw error
  }
}

function readStrictly(text: Uint8Array | string, kind: AnyKind): { value: unknown; strictErrors: readonly string[] } {
  try {
    return decodeJson(text, { strict: true, schema: kind.schema, keepRepeated: true })
  } catch {
    // The text is YAML, whose problems are already reported.
    return { value: undefined, strictErrors: [] }
  }
}

function complete(kind: AnyKind, strategy: Pick<Strategy, 'setDefaults'>, object: MutableObject): MutableObject {
  object.apiVersion = kind.apiVersion
  object.kind = kind.kind
  strategy.setDefaults?.(object)
  return object
}
