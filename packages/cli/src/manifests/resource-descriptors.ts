import type { FieldSchema } from './sample-of.ts'

/** The descriptor of a field for consoles. */
export interface FieldDescriptor {
  readonly description: string
  readonly displayName: string
  readonly path: string
  readonly 'x-descriptors'?: readonly string[]
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
    const hints = half === 'spec' ? specHints(name, field) : statusHints(name)
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

function specHints(name: string, { type, enum: choices }: FieldSchema): string[] {
  if (/^(replicas|size)$/.test(name)) return [`${ui}:podCount`]
  if (name === 'resources' && type === 'object') return [`${ui}:resourceRequirements`]
  if (choices) return choices.map((choice) => `${ui}:select:${String(choice)}`)
  if (type === 'boolean') return [`${ui}:booleanSwitch`]
  if (type === 'integer' || type === 'number') return [`${ui}:number`]
  return type === 'string' ? [`${ui}:text`] : []
}

function statusHints(name: string): string[] {
  if (name === 'conditions') return ['urn:alm:descriptor:io.kubernetes.conditions']
  return name === 'phase' ? ['urn:alm:descriptor:io.kubernetes.phase'] : []
}

/** `readyReplicas` -> `Ready Replicas`. */
export function displayName(name: string): string {
  const words = name.replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2').split(/[\s_-]+/)
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join(' ')
}
