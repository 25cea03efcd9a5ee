import {
  ApplyError,
  applyJsonPatch,
  applyMergePatch,
  applyStrategicMergePatch,
  decodeJson,
  decodeJsonPatch,
  decodeMergePatch,
  decodeStrategicMergePatch,
  decodeYaml,
  encodeJson,
  formatGroupVersionKind,
  isApiError,
  managerOrUserAgent,
  newBadRequest,
  newInvalid,
  newNotFound,
  newUnsupportedMediaType,
  PatchError,
  parseGroupVersion,
  parseYaml,
  printedStrategicPatch,
  strictDecodingMessage,
  type UpdateFieldsOptions,
  unknownJsonPatchFields,
} from '@kubewright/api'
import { deepEqual, turnAfter } from '@kubewright/base'
import { type FieldError, FieldPath, forbidden, goValue, invalid, required } from '@kubewright/schema'
import { checkBody, checkCommas, readBody, textOf } from '../../request/body.ts'
import type { RequestContext } from '../../request/request-context.ts'
import { isTrue } from '../../request/request-info.ts'
import { unsupportedMediaType } from '../../request/route-errors.ts'
import { warnStrictly } from '../../request/strict-warnings.ts'
import { unclassifiedError } from '../../request/unclassified-error.ts'
import { type WriteOptions, writeOptions } from '../../request/write-options.ts'
import { yamlTextOf } from '../../request/yaml-text.ts'
import type { MutableObject } from '../../resource/object.ts'
import type { Resource } from '../../resource/resource.ts'
import type { Endpoint } from '../endpoint.ts'

const jsonPatchType = 'application/json-patch+json'
const mergePatchType = 'application/merge-patch+json'
const strategicPatchType = 'application/strategic-merge-patch+json'
/** The media type of server-side apply. */
export const applyType = 'application/apply-patch+yaml'

/**
 * Computes the next version of an object from the current one, managed fields included. Runs once per attempt to write. Must neither
 * change nor keep `current`, which is undefined for an object that does not exist.
 */
export type Change = (current: MutableObject | undefined) => MutableObject | Promise<MutableObject>

interface PatchRequest {
  readonly endpoint: Endpoint
  readonly context: RequestContext
  readonly body: Uint8Array
  readonly options: WriteOptions
}

/** The manager and the time that the field tracker records for a request. */
export function trackedBy(
  { registry }: Endpoint,
  { request }: RequestContext,
  { fieldManager }: Pick<WriteOptions, 'fieldManager'>,
): UpdateFieldsOptions {
  return {
    manager: managerOrUserAgent(fieldManager, request.headers['user-agent'] ?? ''),
    now: registry.timestamp(),
  }
}

/** Throws UnsupportedMediaType unless the resource accepts patches of the media type. */
export function requirePatchType({ origin }: Resource, type: string): void {
  const accepted = [
    jsonPatchType,
    mergePatchType,
    ...(origin.supportsStrategicMergePatch ? [strategicPatchType] : []),
    applyType,
  ]
  if (accepted.includes(type)) return
  throw origin.hasRoutes ? unsupportedMediaType() : newUnsupportedMediaType(accepted)
}

/**
 * Reads the body and the options of a patch. The body itself is decoded by the change, so that a malformed patch of an object that does
 * not exist is answered with NotFound, as in kube-apiserver.
 */
export async function readPatch(
  endpoint: Endpoint,
  context: RequestContext,
  type: string,
): Promise<{ readonly options: WriteOptions; readonly change: Change }> {
  const { query } = context.request
  const body = await readBody(context)
  context.bodyBytes = body.length
  context.auditRecord?.requestBody(() => parseYaml(textOf(body)))
  const options = writeOptions(query, 'PatchOptions', patchOptionErrors(query, type))
  const request = { endpoint, context, body, options }
  return { options, change: type === applyType ? applyChange(request) : patchChange(type, request) }
}

/** Server-side apply requires a field manager; other patches must not be forced (meta/v1/validation.ValidatePatchOptions). */
function patchOptionErrors(query: URLSearchParams, type: string): FieldError[] {
  if (type === applyType) {
    return query.get('fieldManager') ? [] : [required(FieldPath.of('fieldManager'), 'is required for apply patch')]
  }
  return query.get('force') ? [forbidden(FieldPath.of('force'), 'may not be specified for non-apply patch')] : []
}

function patchChange(type: string, request: PatchRequest): Change {
  const { endpoint, context, options } = request
  const patch = type === strategicPatchType ? strategicPatch(request) : jsonPatch(type, request)
  return async (current) => {
    if (!current) throw newNotFound(endpoint.groupResource, context.info.name)
    const next = await asResponse(() => patch(current))
    const patched = turnAfter(request.body.length)
    if (patched) await patched
    return endpoint.fields.update(current, next, trackedBy(endpoint, context, options))
  }
}

/** JSON patch and JSON merge patch: both change the JSON of the object, which errors quote. */
function jsonPatch(type: string, request: PatchRequest): (current: MutableObject) => MutableObject {
  const { endpoint, context, body, options } = request
  const strict = options.fieldValidation !== 'Ignore'
  return (current) => {
    checkCommas(context, body)
    const { value, strictErrors } = decoded(body, strict, strict ? 'error decoding patch: ' : '')
    checkBody(context, value, body.length)
    const before = endpoint.codec.toClientForm(current, true)
    const applied = (patch: unknown): MutableObject =>
      type === jsonPatchType
        ? applyJsonPatch(before, decodeJsonPatch(patch, options.fieldValidation))
        : applyMergePatch(before, decodeMergePatch(patch))
    const after = applied(value)
    let errors = strictErrors
    if (type === jsonPatchType && strict) {
      const unknown = unknownJsonPatchFields(decodeJsonPatch(value, options.fieldValidation))
      errors = [...strictErrors.map((error) => `json patch ${error}`), ...unknown]
    }
    const sortKeys = !endpoint.hasGoType
    return rechecked(request, after, errors, 'json', () => {
      const text = textOf(body)
      const marked = markedSurrogates(text)
      if (marked === text) return encodeJson(after, { sortKeys })
      return unmarkedSurrogates(encodeJson(applied(decodeJson(marked).value), { sortKeys }))
    })
  }
}

const surrogateEscape =
  /\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|\\u([dD][89a-fA-F][\da-fA-F]{2})|\\./gs

/**
 * The JSON text with lone surrogates as markers, which survive decoding. kube-apiserver copies the values of a patch without decoding them,
 * so that its errors quote lone surrogates as the client wrote them.
 */
function markedSurrogates(text: string): string {
  return text.replace(surrogateEscape, (all, lone: string | undefined) =>
    lone === undefined ? all : `\ue000${lone}\ue001`,
  )
}

function unmarkedSurrogates(text: string): string {
  return text.replace(/\ue000([\da-fA-F]{4})\ue001/g, '\\u$1')
}

function strategicPatch(request: PatchRequest): (current: MutableObject) => MutableObject {
  const { endpoint, context, body, options } = request
  return (current) => {
    checkCommas(context, body)
    const { value, strictErrors } = decoded(body, options.fieldValidation !== 'Ignore', '')
    checkBody(context, value, body.length)
    const patch = decodeStrategicMergePatch(value)
    const before = endpoint.codec.toClientForm(current, true)
    const after = applyStrategicMergePatch(before, patch, endpoint.kind.schema)
    return rechecked(request, after, strictErrors, 'map', () => goValue(printedStrategicPatch(before, patch)))
  }
}

function decoded(
  body: Uint8Array,
  strict: boolean,
  prefix: string,
): { value: unknown; strictErrors: readonly string[] } {
  try {
    return decodeJson(body, { strict })
  } catch (error) {
    throw newBadRequest(prefix + (error as Error).message)
  }
}

/** The result of a patch in the form of its kind. A result that does not fit makes the patch invalid; `quoted` is the value in the error. */
function rechecked(
  { endpoint, context, options }: PatchRequest,
  after: MutableObject,
  patchErrors: readonly string[],
  source: 'json' | 'map',
  quoted: () => string,
): MutableObject {
  const refuse = (why: string): never => {
    throw newInvalid({ group: '', kind: '' }, '', [invalid(FieldPath.of('patch'), quoted(), why)])
  }
  const strict = options.fieldValidation !== 'Ignore'
  let result: { readonly object: MutableObject; readonly strictErrors: readonly string[] }
  try {
    result = endpoint.codec.recheck(after, { strict, source })
  } catch (error) {
    if (isApiError(error)) throw error
    return refuse((error as Error).message)
  }
  const errors = [...patchErrors, ...result.strictErrors]
  if (errors.length > 0) {
    if (options.fieldValidation === 'Strict') refuse(strictDecodingMessage(errors))
    if (options.fieldValidation === 'Warn') warnStrictly(errors, context.warn)
  }
  return result.object
}

/** Server-side apply. */
function applyChange({ endpoint, context, body, options }: PatchRequest): Change {
  const force = isTrue(context.request.query.get('force'))
  return async (current) => {
    const { config, repeated } = readConfig(body)
    checkBody(context, config)
    const read = turnAfter(body.length)
    if (read) await read
    const { applyProblems } = endpoint
    const unowned = (current?.metadata.managedFields ?? []).length === 0
    // A configuration of another type is refused before.
    if (applyProblems && unowned && gvkOf(config) === gvkOf(endpoint.kind))
      throw unclassifiedError(applyProblems.unowned)
    const tracked = { ...trackedBy(endpoint, context, options), force }
    const { object, merged } = await asResponse(() => endpoint.fields.apply(current, config, tracked))
    const applied = turnAfter(body.length)
    if (applied) await applied
    if (repeated.length > 0) {
      const errors = repeated.map((error) => `error converting YAML to JSON: ${error}`)
      if (options.fieldValidation === 'Strict') throw newBadRequest(`error strict decoding YAML: ${errors.join(', ')}`)
      if (options.fieldValidation === 'Warn') warnStrictly(errors, context.warn)
    }
    if (applyProblems && !sameButManagedFields(object, current)) {
      throw unclassifiedError(`${subjectOf(config)}: ${applyProblems.changing}`)
    }
    // As in structuredmerge.go, an object that has the applied values already is not defaulted.
    if (!merged) return object
    // Not strict: the merge has already refused fields that the kind does not have.
    try {
      return endpoint.codec.recheck(object, { strict: false, source: 'map' }).object
    } catch (error) {
      throw unclassifiedError(unconvertible(config, (error as Error).message))
    }
  }
}

/** The error for a value that fits the schema but not the Go type, such as data that is no base64 (structuredmerge.go, scheme.go). */
function unconvertible(config: MutableObject, why: string): string {
  return `${subjectOf(config)}: unable to convert unstructured object to ${gvkOf(config)}: ${why}`
}

function subjectOf(config: MutableObject): string {
  // An applied configuration is not validated before this point and may lack its metadata.
  const { namespace = '', name = '' } = (config.metadata as MutableObject['metadata'] | undefined) ?? {}
  return `failed to convert new object (${namespace}/${name}; ${gvkOf(config)}) to proper version`
}

function gvkOf({ apiVersion = '', kind = '' }: Partial<Pick<MutableObject, 'apiVersion' | 'kind'>>): string {
  const { group, version } = parseGroupVersion(apiVersion)
  return formatGroupVersionKind({ group, version, kind })
}

function sameButManagedFields(a: MutableObject, b: MutableObject | undefined): boolean {
  const rest = (object: MutableObject | undefined): unknown => {
    if (!object) return undefined
    const { managedFields: _, ...metadata } = object.metadata
    return { ...object, metadata }
  }
  return deepEqual(rest(a), rest(b))
}

function readConfig(body: Uint8Array): { config: MutableObject; repeated: readonly string[] } {
  let read: ReturnType<typeof decodeYaml>
  try {
    read = decodeYaml(yamlTextOf(body), { strict: true })
  } catch (error) {
    throw newBadRequest(`error decoding YAML: error converting YAML to JSON: ${(error as Error).message}`)
  }
  const { value, strictErrors } = read
  if (value !== null && (typeof value !== 'object' || Array.isArray(value))) {
    const found = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value
    throw newBadRequest(
      'error decoding YAML: error unmarshaling JSON: while decoding JSON: ' +
        `json: cannot unmarshal ${found} into Go value of type map[string]interface {}`,
    )
  }
  return { config: (value ?? {}) as MutableObject, repeated: strictErrors }
}

/** Runs a step of the patch library and turns its errors into those that the server responds with. */
async function asResponse<T>(step: () => T | Promise<T>): Promise<T> {
  try {
    return await step()
  } catch (error) {
    if (error instanceof PatchError) throw error.toApiError()
    throw error instanceof ApplyError ? unclassifiedError(error.message) : error
  }
}
