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
  PatchError,
  parseGroupVersion,
  strictDecodingMessage,
  unknownJsonPatchFields,
} from '@kubewright/api'
import { deepCopy, deepEqual } from '@kubewright/base'
import { FieldPath, goValue, invalid } from '@kubewright/schema'
import { textOf } from '../request/body.ts'
import type { RequestContext } from '../request/request-context.ts'
import { isTrue } from '../request/request-info.ts'
import { warnStrictly } from '../request/strict-warnings.ts'
import { unclassifiedError } from '../request/unclassified-error.ts'
import type { WriteOptions } from '../request/write-options.ts'
import type { MutableObject } from '../resource/object.ts'
import type { Endpoint } from './endpoint.ts'

export const jsonPatchType = 'application/json-patch+json'
export const mergePatchType = 'application/merge-patch+json'
export const strategicPatchType = 'application/strategic-merge-patch+json'
export const applyYamlType = 'application/apply-patch+yaml'

/** What makes the next object out of the current one, managed fields included; called again for each attempt to write. */
export type Patcher = (current: MutableObject | undefined) => MutableObject | Promise<MutableObject>

interface PatchRequest {
  readonly endpoint: Endpoint
  readonly context: RequestContext
  readonly body: Uint8Array
  readonly options: WriteOptions
}

/** Reads a patch of the given media type. A patch that cannot be read is refused when it meets an object, as in the real server. */
export function makePatcher(type: string, request: PatchRequest): Patcher {
  if (type === applyYamlType) return applyPatcher(request)
  const { endpoint, context, options } = request
  const patch = type === strategicPatchType ? strategicPatch(request) : jsonPatch(type, request)
  return (current) => {
    if (!current) throw newNotFound(endpoint.groupResource, context.info.name)
    return endpoint.trackUpdate(
      current,
      translated(() => patch(current)),
      context,
      options,
    )
  }
}

/** JSON patch and merge patch: both work on the JSON of the object, whose form the errors show. */
function jsonPatch(type: string, request: PatchRequest): (current: MutableObject) => MutableObject {
  const { body, options } = request
  const strict = options.fieldValidation !== 'Ignore'
  return (current) => {
    const { value, strictErrors } = decoded(body, strict, strict ? 'error decoding patch: ' : '')
    const before = request.endpoint.normalize(current)
    let after: MutableObject
    let errors = strictErrors
    if (type === jsonPatchType) {
      const operations = decodeJsonPatch(value, options.fieldValidation)
      if (strict) {
        errors = [...strictErrors.map((error) => `json patch ${error}`), ...unknownJsonPatchFields(operations)]
      }
      after = applyJsonPatch(before, operations)
    } else after = applyMergePatch(before, decodeMergePatch(value))
    const sortKeys = !request.endpoint.hasGoType
    return checked(request, after, errors, 'json', () => encodeJson(after, { sortKeys }))
  }
}

function strategicPatch(request: PatchRequest): (current: MutableObject) => MutableObject {
  const { endpoint, body, options } = request
  return (current) => {
    const { value, strictErrors } = decoded(body, options.fieldValidation !== 'Ignore', '')
    const patch = decodeStrategicMergePatch(value)
    const after = applyStrategicMergePatch(endpoint.normalize(current), patch, endpoint.schema)
    return checked(request, after, strictErrors, 'map', () => goValue(patch))
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

/** Brings the result of a patch into the kind's form; what does not fit makes the patch invalid, and `shown` is what is quoted. */
function checked(
  { endpoint, context, options }: PatchRequest,
  after: MutableObject,
  patchErrors: readonly string[],
  source: 'json' | 'map',
  shown: () => string,
): MutableObject {
  const refuse = (why: string): never => {
    throw newInvalid({ group: '', kind: '' }, '', [invalid(FieldPath.of('patch'), shown(), why)])
  }
  const strict = options.fieldValidation !== 'Ignore'
  let result: { readonly object: MutableObject; readonly strictErrors: readonly string[] }
  try {
    result = endpoint.recheck(after, { strict, source })
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
function applyPatcher({ endpoint, context, body, options }: PatchRequest): Patcher {
  const { registry } = endpoint
  const manager = managerOrUserAgent(options.fieldManager, context.request.headers['user-agent'] ?? '')
  const force = isTrue(context.request.query.get('force'))
  return async (current) => {
    const { config, repeated } = readConfig(body)
    const { applyProblems } = endpoint
    const unowned = (current?.metadata.managedFields ?? []).length === 0
    if (applyProblems && unowned) throw unclassifiedError(applyProblems.unowned)
    const now = registry.timestamp()
    const result = await translatedLater(() => endpoint.apply(current, config, { manager, force, now }))
    if (repeated.length > 0) {
      const errors = repeated.map((error) => `error converting YAML to JSON: ${error}`)
      if (options.fieldValidation === 'Strict') throw newBadRequest(`error strict decoding YAML: ${errors.join(', ')}`)
      if (options.fieldValidation === 'Warn') warnStrictly(errors, context.warn)
    }
    if (applyProblems && !sameButOwners(result.object as MutableObject, current)) {
      throw unclassifiedError(`${subjectOf(config)}: ${applyProblems.changing}`)
    }
    // Fields that the kind does not have were refused by the merge.
    const merged = deepCopy(result.object) as MutableObject
    try {
      return endpoint.recheck(merged, { strict: false, source: 'map' }).object
    } catch (error) {
      throw unclassifiedError(unconvertible(config, (error as Error).message))
    }
  }
}

/** The text for what fits the schema and not the type, such as data that is no base64 (structuredmerge.go, scheme.go). */
function unconvertible(config: MutableObject, why: string): string {
  return `${subjectOf(config)}: unable to convert unstructured object to ${gvkOf(config)}: ${why}`
}

function subjectOf(config: MutableObject): string {
  const { namespace = '', name = '' } = config.metadata
  return `failed to convert new object (${namespace}/${name}; ${gvkOf(config)}) to proper version`
}

function gvkOf({ apiVersion, kind }: MutableObject): string {
  const { group, version } = parseGroupVersion(apiVersion)
  return formatGroupVersionKind({ group, version, kind })
}

/** Whether two objects differ in their managed fields at most. */
function sameButOwners(a: MutableObject, b: MutableObject | undefined): boolean {
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
    read = decodeYaml(textOf(body), { strict: true })
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

/** Runs a step of the patch library; its errors become answers. */
function translated<T>(step: () => T): T {
  try {
    return step()
  } catch (error) {
    throw answerFor(error)
  }
}

/** As {@link translated}, for a step that may have to be waited for. */
async function translatedLater<T>(step: () => T | Promise<T>): Promise<T> {
  try {
    return await step()
  } catch (error) {
    throw answerFor(error)
  }
}

function answerFor(error: unknown): unknown {
  if (error instanceof PatchError) return error.toApiError()
  return error instanceof ApplyError ? unclassifiedError(error.message) : error
}
