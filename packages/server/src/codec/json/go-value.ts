import { compareUtf8, unreachable } from '@kubewright/base'
import { RawValue } from '@kubewright/schema'
import { goStructs } from './go-structs.ts'

interface GoField {
  readonly name: string
  readonly json: string
  /** The type in the notation of the table. */
  readonly type: string
}

const parsed = new Map<string, readonly GoField[]>()

/**
 * A value of the core group in the JSON of the API server's internal Go type: all fields in declaration order under their Go names.
 * Errors that print a whole object use this form.
 */
export function goValueOf(type: string, value: object): Record<string, unknown> {
  return structOf(type, value as Record<string, unknown>)
}

const htmlUnsafe = /[<>&\u2028\u2029]/g

/** Escapes JSON text as Go's encoder does: characters that are unsafe inside HTML become `\\uXXXX`. */
export function escapeHtml(json: string): string {
  return json.replace(htmlUnsafe, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** {@link goValueOf} as the bad value of an error, which keeps the order of fields. A list becomes a list of such values. */
export function goShown(type: string, value: object | readonly object[]): RawValue {
  const shown = Array.isArray(value) ? value.map((item: object) => goValueOf(type, item)) : goValueOf(type, value)
  return new RawValue(escapeHtml(JSON.stringify(shown)))
}

function structOf(type: string, value: Record<string, unknown>): Record<string, unknown> {
  const source = type === 'PodSpec' ? withHostFields(value) : value
  const result: Record<string, unknown> = {}
  for (const field of fieldsOf(type)) {
    if (field.type === 'inline') Object.assign(result, source['metadata'] ?? {})
    else result[field.name] = convert(field.type, source[field.json])
  }
  return result
}

/** The internal type has the host namespace fields in the security context. */
function withHostFields(spec: Record<string, unknown>): Record<string, unknown> {
  const { hostNetwork, hostPID, hostIPC, shareProcessNamespace, hostUsers } = spec
  const context = spec['securityContext'] as Record<string, unknown> | undefined
  return context
    ? { ...spec, securityContext: { ...context, hostNetwork, hostPID, hostIPC, shareProcessNamespace, hostUsers } }
    : spec
}

function convert(type: string, value: unknown): unknown {
  switch (type) {
    case 's':
      return value ?? ''
    case 'n':
      return value ?? 0
    case 'b':
      return value ?? false
    case 'q':
      return String(value ?? '0')
    case '{}':
      return value ?? {}
    case 'l':
      return value === undefined ? null : labelSelector(value as LabelSelector)
    case '*':
      return value === undefined ? null : sorted(value)
  }
  if (type.startsWith('[]')) {
    if (!Array.isArray(value)) return null
    return value.map((item) => structOf(type.slice(2), item as Record<string, unknown>))
  }
  if (type.startsWith('*')) return value == null ? null : structOf(type.slice(1), value as Record<string, unknown>)
  return structOf(type, (value ?? {}) as Record<string, unknown>)
}

interface LabelSelector {
  matchLabels?: object | undefined
  matchExpressions?: readonly object[] | undefined
}

/** A label selector keeps its JSON names and omits empty fields. */
function labelSelector({ matchLabels, matchExpressions }: LabelSelector): Record<string, unknown> {
  return {
    ...(matchLabels && Object.keys(matchLabels).length > 0 ? { matchLabels: sorted(matchLabels) } : {}),
    ...(matchExpressions && matchExpressions.length > 0 ? { matchExpressions } : {}),
  }
}

/** Sorts the keys of maps, as Go does. */
function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => compareUtf8(a, b)))
}

function fieldsOf(type: string): readonly GoField[] {
  let fields = parsed.get(type)
  if (!fields) parsed.set(type, (fields = parse(type)))
  return fields
}

function parse(type: string): GoField[] {
  const text = goStructs[type]
  if (text === undefined) unreachable(`Unknown Go struct ${type}: add it to go-structs.ts`)
  return text.split(' ').flatMap((entry): readonly GoField[] => {
    if (entry === '+ObjectMeta') return [{ name: '', json: '', type: 'inline' }]
    if (entry.startsWith('+')) return fieldsOf(entry.slice(1))
    const [names = '', kind = ''] = entry.split(':')
    const [name = '', json] = names.split('=')
    return [{ name, json: json ?? name.charAt(0).toLowerCase() + name.slice(1), type: kind }]
  })
}
