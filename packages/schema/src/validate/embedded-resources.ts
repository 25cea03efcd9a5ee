import { append, compareUtf8, isDNS1035Label } from '@kubewright/base'
import { type FieldError, invalid, required } from '../field/field-error.ts'
import type { FieldPath } from '../field/field-path.ts'
import { decodeObjectMeta } from '../meta/object-meta.ts'
import { validateObjectMeta } from '../meta/object-meta-validation.ts'
import type { JsonObject, StructuralNode } from '../model/structural-node.ts'

/** How to treat malformed metadata of embedded resources. */
export interface CoerceOptions {
  /** Drops fields of the wrong type instead of failing. */
  readonly dropInvalid: boolean
}

/** The result of {@link coerceMetadata}. */
export interface CoerceResult {
  readonly error: FieldError | undefined
  /** The sorted paths of unknown metadata fields that were dropped. */
  readonly unknown: readonly string[]
}

/**
 * Converts the type and object metadata of embedded resources in place to the form that the API server stores.
 *
 * As in apiextensions-apiserver/pkg/apiserver/schema/objectmeta: stops at the first field of the wrong type, unless
 * `dropInvalid` is set.
 */
export function coerceMetadata(
  value: unknown,
  node: StructuralNode,
  path: FieldPath,
  options: CoerceOptions,
): CoerceResult {
  if (!node.has('embedded')) return CLEAN
  const unknown: string[] = []
  const error = coerce(value, node, path, options, unknown)
  return { error, unknown: unknown.sort(compareUtf8) }
}

const CLEAN: CoerceResult = { error: undefined, unknown: [] }

function coerce(
  value: unknown,
  node: StructuralNode | undefined,
  path: FieldPath,
  options: CoerceOptions,
  unknown: string[],
): FieldError | undefined {
  if (typeof value !== 'object' || value === null || node?.has('embedded') !== true) return undefined
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) {
      const error = coerce(value[i], node.items, path.index(i), options, unknown)
      if (error !== undefined) return error
    }
    return undefined
  }
  const object = value as JsonObject
  for (const name of Object.keys(object)) {
    if (node.embedded) {
      const error = coerceMetaField(object, name, path, options, unknown)
      if (error !== undefined) return error
    }
    const property = node.properties?.get(name)
    if (property === undefined && !node.hasAdditional) continue
    const child = property === undefined ? path.key(name) : path.child(name)
    const error = coerce(object[name], property ?? node.additional, child, options, unknown)
    if (error !== undefined) return error
  }
  return undefined
}

function coerceMetaField(
  object: JsonObject,
  name: string,
  path: FieldPath,
  options: CoerceOptions,
  unknown: string[],
): FieldError | undefined {
  const value = object[name]
  if (name === 'apiVersion' || name === 'kind') {
    if (typeof value === 'string') return undefined
    if (!options.dropInvalid) return invalid(path.child(name), value, 'must be a string')
    delete object[name]
  } else if (name === 'metadata') {
    const decoded = decodeObjectMeta(value, options.dropInvalid)
    const prefix = path.child('metadata').toString()
    for (const field of decoded.unknown) unknown.push(`${prefix}.${field}`)
    if (decoded.error === undefined) object[name] = decoded.meta
    else if (!options.dropInvalid) return invalid(path.child('metadata'), value, decoded.error)
  }
  return undefined
}

/**
 * Validates type and object metadata of embedded resources: apiVersion and kind are required, metadata must be valid.
 */
export function checkEmbedded(value: unknown, node: StructuralNode, path: FieldPath, errors: FieldError[]): void {
  if (typeof value !== 'object' || value === null || !node.has('embedded')) return
  if (Array.isArray(value)) {
    const items = node.items
    if (items === undefined) return
    for (let i = 0; i < value.length; i++) checkEmbedded(value[i], items, path.index(i), errors)
    return
  }
  const object = value as JsonObject
  if (node.embedded) checkMetaFields(object, path, errors)
  const properties = node.properties
  const additional = node.additional
  for (const name in object) {
    const property = properties?.get(name)
    if (property !== undefined) {
      if (property.has('embedded')) checkEmbedded(object[name], property, path.child(name), errors)
    } else if (additional?.has('embedded') === true) {
      checkEmbedded(object[name], additional, path.key(name), errors)
    }
  }
}

function checkMetaFields(object: JsonObject, path: FieldPath, errors: FieldError[]): void {
  const { apiVersion, kind, metadata } = object
  if (apiVersion === undefined) errors.push(required(path.child('apiVersion')))
  if (kind === undefined) errors.push(required(path.child('kind')))
  if (apiVersion !== undefined) checkApiVersion(apiVersion, path.child('apiVersion'), errors)
  if (kind !== undefined) checkKind(kind, path.child('kind'), errors)
  if (metadata === undefined) return
  const { meta, error } = decodeObjectMeta(metadata)
  if (error !== undefined) {
    errors.push(invalid(path.child('metadata'), metadata, error))
    return
  }
  // An embedded resource need not have a name, but a given name must be valid.
  const named = { ...meta, name: meta['name'] ?? 'fakename' }
  append(errors, validateObjectMeta(named, path.child('metadata'), { namespaced: meta['namespace'] !== undefined }))
}

function checkApiVersion(apiVersion: unknown, path: FieldPath, errors: FieldError[]): void {
  if (typeof apiVersion !== 'string') errors.push(invalid(path, apiVersion, 'must be a string'))
  else if (apiVersion === '') errors.push(invalid(path, apiVersion, 'must not be empty'))
  else if (apiVersion.split('/').length > 2) {
    errors.push(invalid(path, apiVersion, `unexpected GroupVersion string: ${apiVersion}`))
  }
}

function checkKind(kind: unknown, path: FieldPath, errors: FieldError[]): void {
  if (typeof kind !== 'string') {
    errors.push(invalid(path, kind, 'must be a string'))
  } else if (kind === '') {
    errors.push(invalid(path, kind, 'must not be empty'))
  } else {
    const messages = isDNS1035Label(kind.toLowerCase())
    if (messages.length === 0) return
    errors.push(invalid(path, kind, `may have mixed case, but should otherwise match: ${messages.join(',')}`))
  }
}
