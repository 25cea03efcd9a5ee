import type { CrdManifest } from '@kubewright/api'
import type { Manifest } from './manifest.ts'

/** The spec of the samples that `create api` writes. A sample with it is replaced once its kind has other fields. */
export const placeholderSpec: Readonly<Record<string, string>> = Object.freeze({ foo: 'bar' })

/** The schema of a field. */
export type FieldSchema = CrdManifest['spec']['versions'][number]['schema']['openAPIV3Schema']

/** An example object of a resource, with the fields that its schema requires and no others. */
export function sampleOf(crd: CrdManifest, operator: string, version: string = storedVersion(crd)): Manifest {
  const { group, names, scope, versions } = crd.spec
  const schema = versions.find(({ name }) => name === version)?.schema.openAPIV3Schema
  const rest: Record<string, unknown> = {}
  for (const [field, of] of Object.entries(schema?.properties ?? {})) {
    if (['apiVersion', 'kind', 'metadata', 'status'].includes(field)) continue
    if (field === 'spec' || schema?.required?.includes(field)) rest[field] = valueFor(of, field)
  }
  return {
    apiVersion: `${group}/${version}`,
    kind: names.kind,
    metadata: {
      labels: { 'app.kubernetes.io/managed-by': 'kustomize', 'app.kubernetes.io/name': operator },
      name: `${names.singular}-sample`,
      ...(scope === 'Namespaced' ? { namespace: 'default' } : {}),
    },
    ...rest,
  }
}

/** The storage version of a CRD. */
export function storedVersion(crd: CrdManifest): string {
  return crd.spec.versions.find(({ storage }) => storage)?.name ?? crd.spec.versions[0]?.name ?? 'v1'
}

const formats: Readonly<Record<string, string>> = {
  byte: 'ZXhhbXBsZQ==',
  cidr: '10.0.0.0/24',
  date: '2026-01-01',
  'date-time': '2026-01-01T00:00:00Z',
  duration: '1m',
  email: 'user@example.com',
  hostname: 'example.com',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  mac: '00:00:5e:00:53:01',
  uri: 'https://example.com',
  uuid: '00000000-0000-4000-8000-000000000000',
}

function valueFor(schema: FieldSchema, field: string): unknown {
  if (schema.default !== undefined) return schema.default
  if (schema.example !== undefined) return schema.example
  if (schema.enum && schema.enum.length > 0) return schema.enum[0]
  if (schema['x-kubernetes-int-or-string']) return 1
  switch (schema.type) {
    case 'boolean':
      return false
    case 'integer':
    case 'number':
      return numberFor(schema)
    case 'array':
      return Array.from({ length: schema.minItems ?? 0 }, () => valueFor(itemsOf(schema), field))
    case 'string':
      return textFor(schema, field)
    default:
      return objectFor(schema)
  }
}

function objectFor(schema: FieldSchema): Record<string, unknown> {
  const value: Record<string, unknown> = {}
  for (const name of schema.required ?? []) {
    const of = schema.properties?.[name]
    // The server sets fields that have a default.
    if (of && of.default === undefined) value[name] = valueFor(of, name)
  }
  return value
}

function numberFor({ minimum, maximum, exclusiveMinimum, multipleOf }: FieldSchema): number {
  const least = minimum === undefined ? Math.min(1, maximum ?? 1) : minimum + (exclusiveMinimum ? 1 : 0)
  return multipleOf ? Math.ceil(least / multipleOf) * multipleOf : least
}

function textFor({ format, minLength = 0, maxLength }: FieldSchema, field: string): string {
  const text = (format === undefined ? undefined : formats[format]) ?? `example-${field.toLowerCase()}`
  const long = text.length < minLength ? text.padEnd(minLength, 'x') : text
  return maxLength === undefined ? long : long.slice(0, maxLength)
}

function itemsOf({ items }: FieldSchema): FieldSchema {
  return (Array.isArray(items) ? items[0] : items) ?? {}
}
