import { goTypes } from './generated/go-types.ts'

/** A field of a Go struct in its JSON form. */
export interface GoField {
  /** The JSON name. */
  readonly name: string
  /** The type with full package names, such as `*core/v1.PodSecurityContext`. */
  readonly type: string
  /** Whether Go omits an empty value (omitempty). */
  readonly omitEmpty: boolean
  /** Whether Go omits a zero struct (omitzero). */
  readonly omitZero: boolean
  /** The name in errors of Go's decoder: the field name, prefixed by that of the embedded struct. */
  readonly label: string
}

const packages = new Map<string, Map<string, string>>()

/** The fields of a struct, the target of a named type, or undefined for an unknown type. */
export function goDeclaration(type: string): readonly GoField[] | string | undefined {
  const at = type.lastIndexOf('.')
  const key = type.slice(0, at)
  let declarations = packages.get(key)
  if (!declarations) {
    declarations = new Map()
    for (const line of (goTypes[key] ?? '').split('\n')) {
      const end = line.search(/[ =]/)
      declarations.set(end < 0 ? line : line.slice(0, end), end < 0 ? '' : line.slice(end))
    }
    packages.set(key, declarations)
  }
  const text = declarations.get(type.slice(at + 1))
  if (text === undefined) return undefined
  if (text.startsWith('=')) return text.slice(1)
  return text === ''
    ? []
    : text
        .slice(1)
        .split(' ')
        .map((field) => parseField(field, key))
}

function parseField(text: string, key: string): GoField {
  const colon = text.indexOf(':')
  let head = text.slice(0, colon)
  const omitZero = head.endsWith('??')
  const omitEmpty = head.endsWith('?')
  head = head.replace(/\?+$/, '')
  const caret = head.indexOf('^')
  const name = head.slice(caret + 1)
  // A dot without a package refers to the package of the struct.
  const type = text.slice(colon + 1).replace(/(^|[*\]]|\[)\./g, `$1${key}.`)
  return { name, type, omitEmpty, omitZero, label: head.replace('^', '.') }
}

/** The Go type of a built-in kind. */
export function goTypeOfKind(group: string, version: string, kind: string): string {
  const short = group === '' ? 'core' : group === 'rbac.authorization.k8s.io' ? 'rbac' : group.split('.')[0]!
  return `${short}/${version}.${kind}`
}

/** A type as Go's reflection prints it, with the last segment of its package. */
export function printGoType(type: string): string {
  return type
    .replace(/[\w-]+\/(\w+)\./g, '$1.')
    .replace(/\[\]byte/g, '[]uint8')
    .replace(/\bany\b/g, 'interface {}')
}
