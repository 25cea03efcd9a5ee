import { lineTable } from '@kubewright/k8s/releases'
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

/** The Go type declarations of a release. A package is parsed on first use. */
export class GoDeclarations {
  readonly #changes: Readonly<Record<string, string>>
  readonly #packages = new Map<string, ReadonlyMap<string, string>>()

  /** `changes` are the declarations by package that differ from those of the default release. */
  constructor(changes: Readonly<Record<string, string>> = {}) {
    this.#changes = changes
  }

  /** The fields of a struct, the target of a named type, or undefined for an unknown type. */
  find(type: string): readonly GoField[] | string | undefined {
    const at = type.lastIndexOf('.')
    const key = type.slice(0, at)
    const name = type.slice(at + 1)
    const line = this.#linesOf(key).get(name)
    if (line === undefined) return undefined
    if (line[name.length] === '=') return line.slice(name.length + 1)
    const [, ...fields] = line.split(' ')
    return fields.map((field) => parseField(field, key))
  }

  #linesOf(key: string): ReadonlyMap<string, string> {
    let lines = this.#packages.get(key)
    if (!lines) this.#packages.set(key, (lines = lineTable(goTypes[key] ?? '', this.#changes[key])))
    return lines
  }
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
