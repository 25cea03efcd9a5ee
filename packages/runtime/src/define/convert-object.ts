import { type AnyKind, formatGroupKind, parseGroupVersion } from '@kubewright/api'
import { CaughtError } from '@kubewright/base'
import type { Conversion } from './define-conversion.ts'

/** An object of any kind. */
export interface ConvertibleObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
}

/** An object cannot be converted. The message names it. */
export class ConversionError extends CaughtError {
  override readonly name = 'ConversionError'
}

/**
 * Converts an object to another version of its kind, through the hub if needed. Preserves metadata except for labels
 * and annotations that the conversion returns. Rethrows errors of the conversion.
 */
export function convertObject(
  conversions: readonly Conversion[],
  object: ConvertibleObject,
  desiredAPIVersion: string,
): ConvertibleObject {
  const from = parseGroupVersion(object.apiVersion)
  const to = parseGroupVersion(desiredAPIVersion)
  const what = `${object.kind} ${nameOf(object)}`
  if (from.group !== to.group) {
    throw new ConversionError(
      `${what} of ${object.apiVersion} cannot be converted to another group: ${desiredAPIVersion}`,
    )
  }
  if (from.version === to.version) {
    throw new ConversionError(`conversion is not allowed between same type: ${what} is of ${desiredAPIVersion} already`)
  }
  const conversion = conversions.find(({ hub }) => hub.group === from.group && hub.kind === object.kind)
  if (!conversion) {
    const kind = formatGroupKind({ group: from.group, kind: object.kind })
    throw new ConversionError(`${what} cannot be converted: the operator has no conversion for ${kind}`)
  }
  const { hub } = conversion
  const inHub = from.version === hub.version ? object : step(conversion, from.version, 'toHub', object, hub)
  if (to.version === hub.version) return inHub
  const target = conversion.spokes.find(({ kind }) => kind.version === to.version)?.kind
  return step(conversion, to.version, 'fromHub', inHub, target)
}

/** The quoted key of an object, for messages. */
export function nameOf({ metadata = {} }: ConvertibleObject): string {
  const { namespace, name = '' } = metadata
  return JSON.stringify(typeof namespace === 'string' && namespace !== '' ? `${namespace}/${String(name)}` : name)
}

function step(
  { spokes, hub }: Conversion,
  version: string,
  way: 'toHub' | 'fromHub',
  object: ConvertibleObject,
  target: AnyKind | undefined,
): ConvertibleObject {
  const spoke = spokes.find(({ kind }) => kind.version === version)
  if (!spoke || !target) {
    const known = [hub, ...spokes.map(({ kind }) => kind)].map((kind) => kind.version).join(', ')
    throw new ConversionError(
      `${object.kind} ${nameOf(object)} cannot be converted from or to version ${version}: the conversion supports ${known}`,
    )
  }
  const { metadata = {}, ...fields } = spoke[way](object) as {
    metadata?: Partial<Record<MapField, object>> | undefined
  }
  const kept: Record<string, unknown> = { ...object.metadata }
  for (const field of mapFields) {
    const given = metadata[field]
    if (given === undefined) continue
    // An empty map is omitted, as in Go.
    if (Object.keys(given).length > 0) kept[field] = given
    else delete kept[field]
  }
  return { ...fields, apiVersion: target.apiVersion, kind: target.kind, metadata: kept }
}

const mapFields = ['labels', 'annotations'] as const
type MapField = (typeof mapFields)[number]
