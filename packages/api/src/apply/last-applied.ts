import { isJsonObject } from '@kubewright/base'
import type { FieldSet } from '../fieldset/field-set.ts'
import { canonicalJson } from '../fieldset/path-element.ts'
import { getOwn, type JsonObject, setOwn } from '../own-property.ts'
import { compareTyped } from './compare.ts'
import { fieldSetOf } from './field-set-of.ts'
import type { TypeNode } from './type-node.ts'
import { validateTyped } from './validate-typed.ts'

/** The annotation in which client-side `kubectl apply` stores the last applied configuration. */
export const lastAppliedAnnotation = 'kubectl.kubernetes.io/last-applied-configuration'

const annotationsLimit = 256 * 1024

/** The annotations of an object, or undefined. */
function annotationsOf(object: JsonObject): JsonObject | undefined {
  const metadata = getOwn(object, 'metadata')
  const annotations = isJsonObject(metadata) ? getOwn(metadata, 'annotations') : undefined
  return isJsonObject(annotations) ? annotations : undefined
}

/** The last configuration of client-side apply as text; undefined when there is none. */
export function lastAppliedOf(object: JsonObject): string | undefined {
  const text = annotationsOf(object)?.[lastAppliedAnnotation]
  return typeof text === 'string' && text !== '' ? text : undefined
}

/**
 * The object with the annotation updated to `applied`, or without it when the annotations would exceed their size
 * limit.
 */
export function withLastApplied(object: JsonObject, applied: JsonObject): JsonObject {
  const text = describe(applied)
  if (lastAppliedOf(object) === text) return object
  const annotations: Record<string, unknown> = { ...annotationsOf(object), [lastAppliedAnnotation]: text }
  if (sizeOf(annotations) > annotationsLimit) delete annotations[lastAppliedAnnotation]
  const metadata = getOwn(object, 'metadata')
  return { ...object, metadata: { ...(isJsonObject(metadata) ? metadata : {}), annotations } }
}

function describe(applied: JsonObject): string {
  const annotations = annotationsOf(applied)
  if (annotations === undefined) return `${canonicalJson(applied)}\n`
  const rest: Record<string, unknown> = {}
  for (const key in annotations) if (key !== lastAppliedAnnotation) setOwn(rest, key, annotations[key])
  const metadata = applied['metadata'] as JsonObject
  return `${canonicalJson({ ...applied, metadata: { ...metadata, annotations: rest } })}\n`
}

/** The total size of keys and values in bytes, which the API limits. */
function sizeOf(annotations: JsonObject): number {
  const encoder = new TextEncoder()
  let size = 0
  for (const [key, value] of Object.entries(annotations)) {
    size += encoder.encode(key).length + (typeof value === 'string' ? encoder.encode(value).length : 0)
  }
  return size
}

/**
 * The fields that client-side apply set and that still have the values it set. A server-side apply by kubectl may take
 * these over without a conflict. Undefined when the annotation is absent or not usable.
 */
export function fieldsFromLastApplied(type: TypeNode, live: JsonObject, apiVersion: string): FieldSet | undefined {
  const text = lastAppliedOf(live)
  if (text === undefined) return undefined
  try {
    const applied: unknown = JSON.parse(text)
    if (!isJsonObject(applied) || applied['apiVersion'] !== apiVersion) return undefined
    validateTyped(type, live, false)
    validateTyped(type, applied, false)
    const { modified, added, removed } = compareTyped(type, applied, live)
    return fieldSetOf(type, applied).difference(modified).difference(added).difference(removed)
  } catch {
    // Any writer can set the annotation, so a malformed one is ignored; the conflicts remain.
    return undefined
  }
}
