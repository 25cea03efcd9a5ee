import { deepEqual } from '@kubewright/base'
import type { JSONSchemaProps } from '@kubewright/schema'
import { jsonText } from '../text/json-text.ts'
import { compareBounds } from './compare-bounds.ts'
import type { Report } from './crd-change.ts'

const preserve = 'x-kubernetes-preserve-unknown-fields'

/** Reports the changes between two structural schemas, field by field. Descriptions are not compared. */
export function compareSchemas(before: JSONSchemaProps, after: JSONSchemaProps, path: string, report: Report): void {
  if (deepEqual(before, after)) return
  if (!compareTypes(before, after, path, report)) return
  compareBounds(before, after, path, report)
  compareDefaults(before, after, path, report)
  compareFlags(before, after, path, report)
  compareMerging(before, after, path, report)
  compareJunctors(before, after, path, report)
  compareRules(before, after, path, report)
  compareFields(before, after, path, report)
  compareElements(before, after, path, report)
}

const typeOf = (schema: JSONSchemaProps): string =>
  schema['x-kubernetes-int-or-string'] ? 'int-or-string' : schema.type || 'any'

/** Reports a change of the type. Returns whether the types are equal, so that the rest can be compared. */
function compareTypes(before: JSONSchemaProps, after: JSONSchemaProps, path: string, report: Report): boolean {
  const [old, now] = [typeOf(before), typeOf(after)]
  if (old === now) return true
  const message = `type changed from ${old} to ${now}`
  const widened =
    now === 'any' ||
    (old === 'integer' && now === 'number') ||
    (now === 'int-or-string' && (old === 'integer' || old === 'string'))
  // Stored objects stay valid, but clients may read values of new types.
  if (widened) report('warning', path, message)
  else report('breaking', path, message)
  return false
}

function compareDefaults(before: JSONSchemaProps, after: JSONSchemaProps, path: string, report: Report): void {
  const [old, now] = [before.default, after.default]
  if (deepEqual(old, now)) return
  const show = (value: unknown): string => jsonText(value)
  if (now === undefined || now === null) report('breaking', path, `default ${show(old)} removed`)
  else if (old === undefined || old === null)
    report('warning', path, `default ${show(now)} added: it also fills the field of stored objects`)
  else report('warning', path, `default changed from ${show(old)} to ${show(now)}`)
}

function compareFlags(before: JSONSchemaProps, after: JSONSchemaProps, path: string, report: Report): void {
  if (before.nullable && !after.nullable) report('breaking', path, 'null is no longer allowed')
  if (!before.nullable && after.nullable) report('safe', path, 'null is allowed now')
  const [kept, keeps] = [before[preserve] ?? false, after[preserve] ?? false]
  if (kept && !keeps)
    report('breaking', path, 'unknown fields are no longer preserved: they are pruned from stored objects')
  if (!kept && keeps) report('safe', path, 'unknown fields are preserved now')
  const [was, is] = [before['x-kubernetes-embedded-resource'], after['x-kubernetes-embedded-resource']]
  if (!was && is) report('breaking', path, 'must be a complete Kubernetes object now, with apiVersion and kind')
  if (was && !is) report('safe', path, 'need no longer be a complete Kubernetes object')
}

function compareMerging(before: JSONSchemaProps, after: JSONSchemaProps, path: string, report: Report): void {
  const lists = [before['x-kubernetes-list-type'] ?? 'atomic', after['x-kubernetes-list-type'] ?? 'atomic'] as const
  if (lists[0] !== lists[1]) {
    const message = `list type changed from ${lists[0]} to ${lists[1]}: server-side apply merges it differently`
    if (lists[1] === 'atomic') report('warning', path, message)
    else report('breaking', path, `${message}, and items must be unique`)
  } else if (!deepEqual(before['x-kubernetes-list-map-keys'] ?? [], after['x-kubernetes-list-map-keys'] ?? [])) {
    const keys = [before, after].map((schema) => schema['x-kubernetes-list-map-keys']?.join(', ') ?? 'none')
    report('breaking', path, `list map keys changed from ${keys[0]} to ${keys[1]}`)
  }
  const maps = [before['x-kubernetes-map-type'] ?? 'granular', after['x-kubernetes-map-type'] ?? 'granular'] as const
  if (maps[0] !== maps[1])
    report('warning', path, `map type changed from ${maps[0]} to ${maps[1]}: server-side apply merges it differently`)
}

function compareJunctors(before: JSONSchemaProps, after: JSONSchemaProps, path: string, report: Report): void {
  for (const keyword of ['allOf', 'anyOf', 'oneOf', 'not'] as const) {
    const [old, now] = [before[keyword], after[keyword]]
    if (deepEqual(old, now)) continue
    if (now === undefined) report('safe', path, `${keyword} removed`)
    // Whether one implies the other is not analysed.
    else report('breaking', path, old === undefined ? `${keyword} added` : `${keyword} changed`)
  }
}

function compareRules(before: JSONSchemaProps, after: JSONSchemaProps, path: string, report: Report): void {
  const [old, now] = [before['x-kubernetes-validations'] ?? [], after['x-kubernetes-validations'] ?? []]
  for (const { rule } of now) {
    if (!old.some((other) => other.rule === rule)) report('breaking', path, `rule added: ${oneLine(rule)}`)
  }
  for (const { rule } of old) {
    if (!now.some((other) => other.rule === rule)) report('safe', path, `rule removed: ${oneLine(rule)}`)
  }
}

const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim()

function compareFields(before: JSONSchemaProps, after: JSONSchemaProps, path: string, report: Report): void {
  const [old, now] = [before.properties ?? {}, after.properties ?? {}]
  const [wasRequired, isRequired] = [before.required ?? [], after.required ?? []]
  const at = (name: string): string => (path === '' ? name : `${path}.${name}`)
  for (const [name, field] of Object.entries(old)) {
    const next = Object.hasOwn(now, name) ? now[name] : undefined
    if (next !== undefined) compareSchemas(field, next, at(name), report)
    else if (after[preserve] || typeof after.additionalProperties === 'object')
      report('warning', at(name), 'field removed: it is preserved, but no longer validated as before')
    else report('breaking', at(name), 'field removed: it is pruned from stored objects')
  }
  for (const [name, field] of Object.entries(now)) {
    if (Object.hasOwn(old, name)) continue
    const isFilled = field.default !== undefined && field.default !== null
    if (isRequired.includes(name) && !isFilled) report('breaking', at(name), 'required field added')
    else if (before[preserve]) report('warning', at(name), 'field added: stored objects may contain other values in it')
    else report('safe', at(name), 'field added')
  }
  for (const name of isRequired) {
    const field = now[name]
    // New fields are reported above. A required name without a property may be the key of a map.
    if (wasRequired.includes(name) || (Object.hasOwn(now, name) && !Object.hasOwn(old, name))) continue
    const isFilled = field?.default !== undefined && field.default !== null
    report(isFilled ? 'safe' : 'breaking', at(name), 'is required now')
  }
  for (const name of wasRequired) {
    // Clients that read the field may rely on its presence.
    if (!isRequired.includes(name) && Object.hasOwn(now, name)) report('safe', at(name), 'is optional now')
  }
}

function compareElements(before: JSONSchemaProps, after: JSONSchemaProps, path: string, report: Report): void {
  if (before.items !== undefined && after.items !== undefined)
    compareSchemas(before.items, after.items, `${path}[]`, report)
  const [old, now] = [before.additionalProperties, after.additionalProperties]
  if (typeof old === 'object' && typeof now === 'object') compareSchemas(old, now, `${path}{}`, report)
  else if (old && !now && !after[preserve]) {
    report('breaking', path, 'arbitrary keys are no longer preserved: they are pruned from stored objects')
  } else if (typeof now === 'object' && !old && before[preserve]) {
    report('breaking', path, 'values are validated now')
  } else if (!old && now) report('safe', path, 'arbitrary keys are preserved now')
}
