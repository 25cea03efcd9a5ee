import type { JSONSchemaProps } from '@kubewright/schema'

const policies = /^(retain|orphan|keep|preserve)(ed|s)?$/i
const switches = /(retain|orphan|keep(?!alive)|preserve)/i

/** Whether a form of an object says that something of it stays when it is deleted: `deletionPolicy: Retain`, or `keepData: true`. */
export function retains(schema: JSONSchemaProps, given: unknown, name = ''): boolean {
  // A field that the form leaves out has its default value.
  const value = given ?? schema.default
  if (typeof value === 'string') return (schema.enum ?? []).length > 1 && policies.test(value)
  if (typeof value === 'boolean') return value && switches.test(name)
  if (typeof value !== 'object' || value === null) return false
  const parts = value as Readonly<Record<string, unknown>>
  return Object.entries(schema.properties ?? {}).some(([property, part]) => retains(part, parts[property], property))
}
