// Reads facts about the Go declarations of the built-in kinds that affect JSON and are not in OpenAPI: which fields are pointers, which
// are omitted when empty, and the names of their types.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** What identifies a kind. */
interface KindName {
  readonly group: string
  readonly version: string
  readonly kind: string
}

/** Import paths below k8s.io, by the key of the package in the output. */
const special: Readonly<Record<string, string>> = {
  'meta/v1': 'apimachinery/pkg/apis/meta/v1',
  'apiextensions/v1': 'apiextensions-apiserver/pkg/apis/apiextensions/v1',
  'apiregistration/v1': 'kube-aggregator/pkg/apis/apiregistration/v1',
  runtime: 'apimachinery/pkg/runtime',
  resource: 'apimachinery/pkg/api/resource',
  intstr: 'apimachinery/pkg/util/intstr',
  types: 'apimachinery/pkg/types',
}

/** The folder of a package below staging/src/k8s.io. */
export function folderOfPackage(key: string): string {
  return special[key] ?? `api/${key}`
}

/** Types with custom JSON encodings. The decoder recognises them by name. */
const opaque = new Set([
  'meta/v1.Time',
  'meta/v1.MicroTime',
  'meta/v1.Duration',
  'meta/v1.FieldsV1',
  'runtime.RawExtension',
  'runtime.Object',
  'resource.Quantity',
  'intstr.IntOrString',
  'apiextensions/v1.JSON',
  'apiextensions/v1.JSONSchemaPropsOrBool',
  'apiextensions/v1.JSONSchemaPropsOrArray',
  'apiextensions/v1.JSONSchemaPropsOrStringArray',
])

interface Field {
  readonly name: string
  readonly type: string
  readonly flags: string
  /** The embedded struct that declares the field; empty if none. */
  readonly from: string
}

/**
 * Returns the Go declarations by package: one line per struct (`Name field:type field?:type`) or named type (`Name=type`). `checkout` is a
 * folder with the sources of Kubernetes.
 */
export function goTypesIn(checkout: string, kinds: readonly KindName[]): Record<string, string> {
  const staging = join(checkout, 'staging/src/k8s.io')
  const packages = new Map<string, Map<string, string>>()
  const imports = new Map<string, Map<string, string>>()

  function keyOfImport(path: string): string {
    const found = Object.entries(special).find(([, value]) => `k8s.io/${value}` === path)
    if (found) return found[0]
    return path.startsWith('k8s.io/api/') ? path.slice('k8s.io/api/'.length) : path
  }

  /** Returns the declarations of a package: the text after `type Name`. */
  function load(key: string): Map<string, string> {
    const known = packages.get(key)
    if (known) return known
    const declarations = new Map<string, string>()
    packages.set(key, declarations)
    const folder = join(staging, folderOfPackage(key))
    const names = new Map<string, string>()
    imports.set(key, names)
    if (!existsSync(folder)) return declarations
    for (const file of readdirSync(folder)) {
      if (!file.endsWith('.go') || file.endsWith('_test.go') || file.startsWith('zz_') || file === 'generated.pb.go')
        continue
      const source = readFileSync(join(folder, file), 'utf8').replace(/^\s*\/\/.*$/gm, '')
      for (const [, alias, path] of source.matchAll(/^\s*(?:import\s+)?(\w+)?\s*"(k8s\.io\/[^"]+)"$/gm)) {
        names.set(alias ?? path!.split('/').at(-1)!, keyOfImport(path!))
      }
      for (const [, name, body] of source.matchAll(/^type (\w+) struct \{\n([\s\S]*?)^\}/gm))
        declarations.set(name!, `{${body!}`)
      for (const [, name] of source.matchAll(/^type (\w+) struct\s*\{\s*\}/gm)) declarations.set(name!, '{')
      for (const [, name, type] of source.matchAll(/^type (\w+) ((?:\[\]|map\[)?[\w.\]]+)$/gm))
        declarations.set(name!, type!)
    }
    return declarations
  }

  /** Replaces the package qualifiers in a type by the keys of the packages. */
  function qualify(type: string, key: string): string {
    return type.replace(/\b(?:(\w+)\.)?([A-Z]\w*)/g, (_, alias: string | undefined, name: string) => {
      const owner = alias === undefined ? key : (imports.get(key)!.get(alias) ?? alias)
      return `${owner}.${name}`
    })
  }

  function fieldsOf(key: string, name: string, from = ''): Field[] {
    const body = load(key).get(name)
    if (body === undefined || !body.startsWith('{')) throw new Error(`${key}.${name} is not a struct`)
    const fields: Field[] = []
    for (const line of body.slice(1).split('\n')) {
      const match = /^\s*(?:(\w+)\s+)?([*\w.[\]]+)\s+`(.*)`/.exec(line)
      if (!match) continue
      const tag = /json:"([^"]*)"/.exec(match[3]!)?.[1]
      if (tag === undefined || tag === '-') continue
      const [json = '', ...options] = tag.split(',')
      const type = qualify(match[2]!, key)
      if (json === '' && match[1] === undefined) {
        const [owner, embedded] = split(type)
        fields.push(...fieldsOf(owner, embedded, from === '' ? embedded : `${from}.${embedded}`))
        continue
      }
      const flags = options.includes('omitzero') ? '??' : options.includes('omitempty') ? '?' : ''
      fields.push({ name: json, type, flags, from })
    }
    return fields
  }

  function split(type: string): [string, string] {
    const at = type.lastIndexOf('.')
    return [type.slice(0, at), type.slice(at + 1)]
  }

  const lines = new Map<string, string>()

  function visit(type: string): void {
    const named = type.replace(/^(?:\*|\[\]|map\[[^\]]*\])+/, '')
    const keyType = /^(?:\*|\[\])*map\[([^\]]*)\]/.exec(type)?.[1]
    if (keyType?.includes('.')) visit(keyType)
    if (!named.includes('.') || opaque.has(named) || lines.has(named)) return
    const [key, name] = split(named)
    const body = load(key).get(name)
    if (body === undefined) throw new Error(`Cannot find ${named}`)
    if (!body.startsWith('{')) {
      const target = qualify(body, key)
      lines.set(named, `=${target}`)
      visit(target)
      return
    }
    lines.set(named, '')
    const fields = fieldsOf(key, name)
    // Types of the same package omit its key.
    const local = (text: string): string => text.replaceAll(`${key}.`, '.')
    lines.set(
      named,
      fields
        .map(
          ({ name: field, type: of, flags, from }) => ` ${from === '' ? '' : `${from}^`}${field}${flags}:${local(of)}`,
        )
        .join(''),
    )
    for (const field of fields) visit(field.type)
  }

  for (const kind of kinds) {
    const group = kind.group.replace(/\.k8s\.io$/, '').replace(/^rbac\.authorization$/, 'rbac')
    const short = group === '' ? 'core' : group.split('.')[0]!
    const name = `${short}/${kind.version}`
    const target = `${name}.${kind.kind}`
    load(name)
    // Some kinds are declared in another package than that of their group (Eviction below pods, Scale).
    if (load(name).has(kind.kind)) visit(target)
  }
  // Types that are sent and received but are not resources.
  for (const name of [
    'APIGroup',
    'APIGroupList',
    'APIResourceList',
    'APIVersions',
    'DeleteOptions',
    'ListMeta',
    'Status',
  ]) {
    visit(`meta/v1.${name}`)
  }
  visit('meta/v1.PartialObjectMetadata')

  const byPackage = new Map<string, string[]>()
  for (const [type, body] of [...lines].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const [key, name] = split(type)
    byPackage.set(key, [...(byPackage.get(key) ?? []), `${name}${body}`])
  }
  return Object.fromEntries([...byPackage].map(([key, entries]) => [key, entries.join('\n')]))
}
