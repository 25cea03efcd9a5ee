import { compareUtf8, RawValue } from '@kubewright/schema'
import { goStructs } from './go-structs.ts'

interface GoField {
  readonly name: string
  readonly json: string
  /** How an absent value looks, and how a present one is converted; see the table. */
  readonly type: string
}

const parsed = new Map<string, readonly GoField[]>()

/**
 * A value of the core group as the API server's own Go type prints in JSON: every field in its order under its Go name. Errors that show
 * a whole object show it in this form.
 */
export function goValueOf(type: string, value: object): Record<string, unknown> {
  return structOf(type, value as Record<string, unknown>)
}

const htmlUnsafe = /[<>&\u2028\u2029]/g

/** Escapes JSON text as Go's encoder does: characters that are unsafe inside HTML become `\\uXXXX`. */
export function escapeHtml(json: string): string {
  return json.replace(htmlUnsafe, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** The same as a bad value of an error, which keeps the order of the fields; a list is shown as one of such values. */
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

/** Inside the server, what concerns namespaces of the host is part of the security context. */
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
  matchLabels?: object
  matchExpressions?: readonly object[]
}

/** A struct that has its names of JSON everywhere, and leaves out what is empty. */
function labelSelector({ matchLabels, matchExpressions }: LabelSelector): Record<string, unknown> {
  return {
    ...(matchLabels ? { matchLabels: sorted(matchLabels) } : {}),
    ...(matchExpressions ? { matchExpressions } : {}),
  }
}

/** Go prints maps with sorted keys. */
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
  if (text === undefined) throw new Error(`No Go struct is known for ${type}`)
  return text.split(' ').flatMap((entry): readonly GoField[] => {
    if (entry === '+ObjectMeta') return [{ name: '', json: '', type: 'inline' }]
    if (entry.startsWith('+')) return fieldsOf(entry.slice(1))
    const [names = '', kind = ''] = entry.split(':')
    const [name = '', json] = names.split('=')
    return [{ name, json: json ?? name.charAt(0).toLowerCase() + name.slice(1), type: kind }]
  })
}
