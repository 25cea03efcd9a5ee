import { isJsonObject } from '@kubewright/base'
/** A JSON object whose fields are not checked yet. */
export type Json = { readonly [field: string]: unknown }

/** A field that should be an object; an empty one if it is not. */
export function objectAt(value: unknown, field: string): Json {
  const found = isJsonObject(value) ? value[field] : undefined
  return isJsonObject(found) ? found : {}
}

/** The objects in a field that should be a list of them. */
export function listAt(value: unknown, field: string): Json[] {
  const found = isJsonObject(value) ? value[field] : undefined
  return Array.isArray(found) ? found.filter(isJsonObject) : []
}

/** The string values of a field that should be a map of strings. */
export function textsAt(value: unknown, field: string): Record<string, string> {
  const texts: [string, string][] = []
  for (const [key, text] of Object.entries(objectAt(value, field)))
    if (typeof text === 'string') texts.push([key, text])
  return Object.fromEntries(texts)
}
