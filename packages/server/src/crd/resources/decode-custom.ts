import {
  type ApiError,
  decodeJson,
  decodeYaml,
  encodeJson,
  JsonRangeError,
  newBadRequest,
  newInternalError,
  parseGroupVersion,
} from '@kubewright/api'
import { CaughtError, deepCopy } from '@kubewright/base'
import { decodeObjectMeta } from '@kubewright/schema'
import { summary } from '../../builtins/typed/decode-typed.ts'
import { typeMetaMismatch, typeMetaProblem } from '../../codec/json/go-codec.ts'
import { textOf } from '../../request/body.ts'
import { warnStrictly } from '../../request/strict-warnings.ts'
import { yamlTextOf } from '../../request/yaml-text.ts'
import type { MutableObject } from '../../resource/object.ts'
import type { DecodeRequest, Rechecked, RecheckOptions } from '../../resource/object-codec.ts'
import type { CustomVersions } from './custom-versions.ts'

/**
 * Decodes a request body into a custom resource. Kind and apiVersion are required; unknown fields are dropped and reported according to
 * `fieldValidation`; defaults are set. Throws a BadRequest with the texts of kube-apiserver.
 */
export function decodeCustom(
  versions: CustomVersions,
  apiVersion: string,
  body: Uint8Array,
  request: DecodeRequest,
): MutableObject {
  const unrecognized = (why: string): ApiError =>
    newBadRequest(`the object provided is unrecognized (must be of type ${versions.kind}): ${why} (${summary(body)})`)
  const report = request.fieldValidation !== 'Ignore'
  const { value, strictErrors, numberProblem } = parsed(body, request, report, unrecognized)
  request.check?.(value)
  const hasNullVersion = (value as { apiVersion?: unknown } | null)?.apiVersion === null
  const object = identified(value, body, unrecognized)
  const refuse = (why: string): never => {
    const { version } = parseGroupVersion(object.apiVersion)
    throw newBadRequest(
      `${object.kind} in version ${JSON.stringify(version)} cannot be handled as a ${versions.kind}: ${why}`,
    )
  }
  if (numberProblem !== undefined) refuse(numberProblem)
  if (hasNullVersion) refuse('.apiVersion accessor error: <nil> is of the type <nil>, expected string')
  let unknown: readonly string[]
  try {
    unknown = versions.normalize(object, { report, dropInvalid: false })
  } catch (error) {
    return refuse((error as Error).message)
  }
  if (report && (strictErrors.length > 0 || unknown.length > 0)) {
    const errors = [...strictErrors, ...unknown.map(unknownField)]
    if (request.fieldValidation === 'Strict') refuse(`strict decoding error: ${errors.join(', ')}`)
    warnStrictly(errors, request.warn)
  }
  if (object.apiVersion !== apiVersion) {
    throw newBadRequest(
      `the API version in the data (${object.apiVersion}) does not match the expected API version (${apiVersion})`,
    )
  }
  versions.default(object)
  return object
}

/**
 * Prunes and defaults the result of a patch like a decoded body. The result of an apply (`map`) is defaulted only, because the merge has
 * checked it. Throws an Error when kind is missing or metadata is malformed, and an ApiError when apiVersion is missing.
 */
export function recheckCustom(versions: CustomVersions, patched: MutableObject, options: RecheckOptions): Rechecked {
  // The result of a patch can share parts with its source.
  const object = deepCopy(patched)
  if (options.source === 'map') {
    // A merge can leave nulls in the metadata, which mean empty.
    const { meta, error } = decodeObjectMeta(object.metadata)
    if (error === undefined) object.metadata = meta
    versions.default(object)
    return { object, strictErrors: [] }
  }
  const { strict } = options
  const problem = typeMetaProblem(object)
  if (problem !== undefined) throw new CaughtError(problem)
  if (!object.kind) throw new CaughtError(`Object 'Kind' is missing in '${encodeJson(object, { sortKeys: true })}'`)
  // kube-apiserver does not expect this case, and reports an internal error.
  if (!object.apiVersion) {
    throw newInternalError(new Error("Object 'apiVersion' is missing in 'object has no apiVersion field'"))
  }
  const unknown = versions.normalize(object, { report: strict, dropInvalid: false })
  versions.default(object)
  return { object, strictErrors: strict ? unknown.map(unknownField) : [] }
}

function unknownField(path: string): string {
  return `unknown field "${path}"`
}

function parsed(
  body: Uint8Array,
  { mediaType }: DecodeRequest,
  strict: boolean,
  unrecognized: (why: string) => ApiError,
): { readonly value: unknown; readonly strictErrors: readonly string[]; readonly numberProblem?: string | undefined } {
  const yaml = mediaType === 'application/yaml'
  try {
    return yaml ? decodeYaml(yamlTextOf(body), { strict }) : decodeJson(body, { strict })
  } catch (error) {
    const { message } = error as Error
    // A number outside the range of float64 is reported later, with the kind of the object.
    if (!yaml && error instanceof JsonRangeError) {
      return { value: JSON.parse(textOf(body)), strictErrors: [], numberProblem: message }
    }
    throw unrecognized(yaml ? message : `couldn't get version/kind; json parse error: ${message}`)
  }
}

/** The decoded value as an object; throws unless it has a kind and a well-formed apiVersion, which may be empty. */
function identified(value: unknown, body: Uint8Array, unrecognized: (why: string) => ApiError): MutableObject {
  if (value !== null && (typeof value !== 'object' || Array.isArray(value))) {
    throw unrecognized(`couldn't get version/kind; json parse error: ${typeMetaMismatch(value)}`)
  }
  const given = (value ?? {}) as { apiVersion?: unknown; kind?: unknown }
  const problem = typeMetaProblem(given)
  if (problem !== undefined) throw unrecognized(problem)
  const apiVersion = (given.apiVersion ?? '') as string
  if (apiVersion.split('/').length > 2) throw unrecognized(`unexpected GroupVersion string: ${apiVersion}`)
  if (!given.kind) throw unrecognized(`Object 'Kind' is missing in '${textOf(body)}'`)
  return Object.assign(given, { apiVersion }) as MutableObject
}
