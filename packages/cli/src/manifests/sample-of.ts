import { type CrdManifest, compareVersionPriority } from '@kubewright/api'
import { deepCopy } from '@kubewright/base'
import { compileSchema } from '@kubewright/schema'
import type { Manifest } from './manifest.ts'

/** The spec of the samples that `create api` writes. A sample with it is replaced once its kind has other fields. */
export const placeholderSpec: Readonly<Record<string, string>> = Object.freeze({ foo: 'bar' })

/** The schema of a field. */
export type FieldSchema = CrdManifest['spec']['versions'][number]['schema']['openAPIV3Schema']

/**
 * An example object of a resource, with the fields that its schema requires and few others. Values are derived from defaults, examples,
 * formats, patterns and field names; {@link sampleProblems} lists what the schema and its rules still reject.
 */
export function sampleOf(crd: CrdManifest, operator: string, version: string = storedVersion(crd)): Manifest {
  const { group, names, versions } = crd.spec
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
      name: sampleName(crd, version),
    },
    ...rest,
  }
}

/** The problems that the schema of a sample and its CEL rules report. */
export function sampleProblems(crd: CrdManifest, sample: Manifest): string[] {
  const version = crd.spec.versions.find(({ name }) => sample.apiVersion === `${crd.spec.group}/${name}`)
  if (version === undefined) return []
  const schema = compileSchema(version.schema.openAPIV3Schema)
  const defaulted = deepCopy(sample)
  schema.default(defaulted)
  return schema.validate(defaulted).map(String)
}

/** The name of a sample. The samples of all versions are objects of one kind, so only that of the oldest version has the short name. */
function sampleName({ spec: { names, versions } }: CrdManifest, version: string): string {
  const oldest = versions
    .map(({ name }) => name)
    .sort(compareVersionPriority)
    .at(-1)
  return `${names.singular}-sample${version === oldest ? '' : `-${version}`}`
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
      if (field === 'containers' && itemsOf(schema).properties?.['image'] !== undefined) {
        return [{ name: 'main', image: 'nginx:1.27' }]
      }
      return Array.from({ length: schema.minItems ?? 0 }, () => valueFor(itemsOf(schema), field))
    case 'string':
      return textFor(schema, field)
    default:
      return objectFor(schema)
  }
}

function objectFor(schema: FieldSchema): Record<string, unknown> {
  const value: Record<string, unknown> = {}
  const { required = [], properties = {} } = schema
  // A template of an object is useless without its spec, although the built-in schemas do not require it.
  const isTemplate = Object.hasOwn(properties, 'metadata') && Object.hasOwn(properties, 'spec')
  for (const name of isTemplate ? new Set([...required, 'spec']) : required) {
    const of = properties[name]
    // The server sets fields that have a default.
    if (of && of.default === undefined) value[name] = valueFor(of, name)
  }
  // A Job rejects the default restart policy, Always.
  const { template, backoffLimit } = properties
  const { spec } = (value['template'] ?? {}) as { spec?: Record<string, unknown> | undefined }
  if (template && backoffLimit && spec) spec['restartPolicy'] = 'OnFailure'
  return value
}

function numberFor({ minimum, maximum, exclusiveMinimum, multipleOf }: FieldSchema): number {
  const least = minimum === undefined ? Math.min(1, maximum ?? 1) : minimum + (exclusiveMinimum ? 1 : 0)
  return multipleOf ? Math.ceil(least / multipleOf) * multipleOf : least
}

// Values for fields whose name says what they contain.
const named: readonly (readonly [RegExp, string])[] = [
  [/schedule|cron/i, '*/5 * * * *'],
  [/^image$|Image$/, 'nginx:1.27'],
  [/^(size|storage|memory|capacity)$/i, '1Gi'],
]

// Values to try for a field with a pattern. The first that matches is used.
const candidates: readonly string[] = [
  ...Object.values(formats),
  ...named.map(([, text]) => text),
  ...[
    'example',
    'Example',
    'EXAMPLE',
    'a',
    'A',
    '1',
    '10',
    '100m',
    '1.0',
    '1.0.0',
    'v1',
    'v1.0.0',
    '1h',
    '5s',
    '12:00',
    '50%',
  ],
  ...[
    '2026-01',
    '/',
    '/example',
    's3://example',
    'https://example.com/',
    'example.com/example',
    'example:1',
    'user@example.com:example',
  ],
  ...['0x1', '0000', 'abcdef0123456789', 'en', 'en-US', 'EUR', 'example_1', '+15550100', '10.0.0.1:80', 'true'],
]

function textFor({ format, pattern, minLength = 0, maxLength }: FieldSchema, field: string): string {
  const typical = named.find(([name]) => name.test(field))?.[1]
  const text = (format === undefined ? undefined : formats[format]) ?? typical ?? `example-${field.toLowerCase()}`
  const fit = (value: string): string => {
    const long = value.length < minLength ? value.padEnd(minLength, 'x') : value
    return maxLength === undefined ? long : long.slice(0, maxLength)
  }
  const matches = matcherOf(pattern)
  return [text, ...candidates].map(fit).find(matches) ?? fit(text)
}

/** A check of a pattern. Accepts everything if JavaScript cannot compile it, since patterns are Go's. */
function matcherOf(pattern: string | undefined): (text: string) => boolean {
  if (pattern === undefined) return () => true
  try {
    const compiled = new RegExp(pattern, 'u')
    return (text) => compiled.test(text)
  } catch {
    return () => true
  }
}

function itemsOf({ items }: FieldSchema): FieldSchema {
  return (Array.isArray(items) ? items[0] : items) ?? {}
}
