import type { FieldSchema } from './sample-of.ts'

/** The descriptor of a field for consoles. */
export interface FieldDescriptor {
  readonly description: string
  readonly displayName: string
  readonly path: string
  readonly 'x-descriptors'?: readonly string[] | undefined
}

/** The descriptors of a resource for consoles, derived from its schema. */
export interface ResourceDescriptors {
  readonly specDescriptors: readonly FieldDescriptor[]
  readonly statusDescriptors: readonly FieldDescriptor[]
}

/** Describes the fields of a version of a resource, down to two levels of its spec. */
export function resourceDescriptors(schema: FieldSchema): ResourceDescriptors {
  const { spec, status } = schema.properties ?? {}
  return {
    specDescriptors: spec ? describeFields(spec, 'spec', '', 2) : [],
    statusDescriptors: status ? describeFields(status, 'status', '', 1) : [],
  }
}

function describeFields(
  schema: FieldSchema,
  half: 'spec' | 'status',
  prefix: string,
  levels: number,
): FieldDescriptor[] {
  const fields: FieldDescriptor[] = []
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    const path = `${prefix}${name}`
    const hints = half === 'spec' ? specHints(name, field) : statusHints(name, field)
    fields.push({
      description: field.description ?? '',
      displayName: displayName(name),
      path,
      ...(hints.length === 0 ? {} : { 'x-descriptors': hints }),
    })
    if (levels > 1) fields.push(...describeFields(field, half, `${path}.`, levels - 1))
  }
  return fields
}

const ui = 'urn:alm:descriptor:com.tectonic.ui'

const core = 'urn:alm:descriptor:io.kubernetes'

// Fields whose name and type say which object they refer to.
const references: Readonly<Record<string, string>> = {
  secretName: 'Secret',
  configMapName: 'ConfigMap',
  serviceAccountName: 'ServiceAccount',
  storageClassName: 'StorageClass',
}

/** The hints for a field of a spec. They depend on its type: a console would otherwise show an input that cannot hold its values. */
function specHints(name: string, schema: FieldSchema): string[] {
  const { type, enum: choices, format, properties = {}, items } = schema
  if (schema['x-kubernetes-int-or-string']) return [`${ui}:text`]
  if (choices && type === 'string') return choices.map((choice) => `${ui}:select:${String(choice)}`)
  switch (type) {
    case 'boolean':
      return [`${ui}:booleanSwitch`]
    case 'integer':
      return [/^(replicas|size)$/.test(name) ? `${ui}:podCount` : `${ui}:number`]
    case 'number':
      return [`${ui}:number`]
    case 'string': {
      const reference = references[name]
      if (reference !== undefined) return [`${core}:${reference}`]
      if (name === 'imagePullPolicy') return [`${ui}:imagePullPolicy`]
      return [format === 'password' ? `${ui}:password` : `${ui}:text`]
    }
    case 'object':
      if (Object.hasOwn(properties, 'limits') && Object.hasOwn(properties, 'requests'))
        return [`${ui}:resourceRequirements`]
      return ['nodeAffinity', 'podAffinity', 'podAntiAffinity'].includes(name) ? [`${ui}:${name}`] : []
    case 'array': {
      const item = Array.isArray(items) ? items[0] : items
      return item?.type === 'object' ? [`${ui}:arrayFieldGroup:${name}`] : []
    }
    default:
      return []
  }
}

function statusHints(name: string, { type }: FieldSchema): string[] {
  if (name === 'conditions' && type === 'array') return [`${core}.conditions`]
  if (name === 'phase' && type === 'string') return [`${core}.phase`]
  return type === 'string' || type === 'integer' || type === 'number' ? ['urn:alm:descriptor:text'] : []
}

/** `readyReplicas` -> `Ready Replicas`. */
export function displayName(name: string): string {
  const words = name.replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2').split(/[\s_-]+/)
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join(' ')
}
