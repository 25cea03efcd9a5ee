// Writes the TypeScript types of a table: an interface per definition, a read type and a draft per kind.
import {
  type DescriptionTexts,
  type FieldTexts,
  textsOf,
} from '../../packages/k8s/src/internal/description-notation.ts'
import { opaqueSchemas } from '../../packages/k8s/src/internal/opaque-schemas.ts'
import { type ApiFacts, type FactDefinition, type FactKind, keyOf, type PublishedSchema } from './api-facts.ts'
import { referenceOf } from './write-notation.ts'

// The JSON types of definitions with custom marshalling.
const OPAQUE_TYPES: Readonly<Record<string, string>> = {
  Quantity: 'number | string',
  IntOrString: 'number | string',
  Time: 'string',
  MicroTime: 'string',
  RawExtension: 'Record<string, unknown>',
  FieldsV1: 'Record<string, unknown>',
  Patch: 'Record<string, unknown>',
  JSON: 'unknown',
  JSONSchemaPropsOrArray: 'JSONSchemaProps | JSONSchemaProps[]',
  JSONSchemaPropsOrBool: 'JSONSchemaProps | boolean',
  JSONSchemaPropsOrStringArray: 'JSONSchemaProps | string[]',
}
// Kinds that the server accepts without a spec.
const SPEC_OPTIONAL: ReadonlySet<string> = new Set(['core/v1.Namespace', 'core/v1.Node', 'coordination/v1.Lease'])

/** The descriptions of all tables, by table key; the shared ones under `shared`. */
export type Descriptions = ReadonlyMap<string, DescriptionTexts>

/** TypeScript source and its imports. */
export interface WrittenTypes {
  readonly lines: readonly string[]
  /** The keys of the tables whose types are used. */
  readonly imports: ReadonlySet<string>
  /** The names of the types that have no value of the same name. */
  readonly typeNames: readonly string[]
}

/** Writes the types of a table that are not kinds: parts and lists. */
export function writeParts(facts: ApiFacts, table: string, descriptions: Descriptions): WrittenTypes {
  const writer = new TypeWriter(facts, table, descriptions)
  for (const definition of facts.tables.get(table) ?? []) writer.addPart(definition)
  return writer
}

/** Writes the types and values of all kinds, which are in one module. */
export function writeKinds(facts: ApiFacts, descriptions: Descriptions): WrittenTypes {
  const writer = new TypeWriter(facts, '', descriptions)
  for (const definitions of facts.tables.values()) {
    for (const definition of definitions) {
      const kind = facts.kinds.get(keyOf(definition))
      if (kind !== undefined) writer.addKind(kind)
    }
  }
  return writer
}

/**
 * Returns the name of a kind in the module of all kinds: its own, unless a kind of a preferred version or of the core
 * group has it.
 */
export function kindName(facts: ApiFacts, kind: FactKind): string {
  const { table } = kind.definition
  const rank = (k: FactKind): string => `${k.preferred ? 0 : 1}${k.group === '' ? 0 : 1}${k.definition.table}`
  const rivals = [...facts.kinds.values()].filter((k) => k.kind === kind.kind && k !== kind)
  if (rivals.every((rival) => rank(kind) < rank(rival))) return kind.kind
  const constant = tableConst(table)
  return `${constant[0]!.toUpperCase()}${constant.slice(1)}${kind.kind}`
}

class TypeWriter implements WrittenTypes {
  readonly lines: string[] = []
  readonly imports = new Set<string>()
  readonly typeNames: string[] = []
  readonly #facts: ApiFacts
  /** The table whose types need no qualifier. */
  readonly #table: string
  readonly #descriptions: Descriptions
  readonly #embedded: ReadonlySet<string>

  constructor(facts: ApiFacts, table: string, descriptions: Descriptions) {
    this.#facts = facts
    this.#table = table
    this.#descriptions = descriptions
    this.#embedded = embeddedKinds(facts)
  }

  addPart(definition: FactDefinition): void {
    const { local } = definition
    if (this.#facts.kinds.has(keyOf(definition))) {
      if (!this.#embedded.has(keyOf(definition))) return
      this.lines.push(`/** ${local} as a part of another object. All fields are optional. */`)
      this.typeNames.push(`Embedded${local}`)
      this.#addInterface(`Embedded${local}`, definition.schema, this.#textsOf(definition))
      return
    }
    this.typeNames.push(local)
    const texts = this.#textsOf(definition)
    const opaque = Object.hasOwn(opaqueSchemas, local) ? OPAQUE_TYPES[local] : undefined
    if (opaque !== undefined) {
      if (texts['']) this.lines.push(`/** ${texts['']} */`)
      this.lines.push(`export type ${local} = ${opaque}`, '')
      return
    }
    const element = local.endsWith('List') ? this.#facts.kinds.get(`${this.#table}.${local.slice(0, -4)}`) : undefined
    if (element !== undefined) {
      this.lines.push(`/** A list of ${element.kind} objects, as read. */`)
      this.lines.push(`export interface ${local} extends KubeList<kinds.${kindName(this.#facts, element)}> {`)
      this.lines.push(`  readonly apiVersion: '${apiVersionOf(element)}'`, `  readonly kind: '${local}'`, '}', '')
      return
    }
    if (texts['']) this.lines.push(`/** ${texts['']} */`)
    this.#addInterface(local, definition.schema, texts)
  }

  #textsOf({ table, local, schema }: FactDefinition): FieldTexts {
    const fields = new Set(Object.keys(schema.properties ?? {}))
    return textsOf(this.#descriptions.get(table), this.#descriptions.get('shared') ?? {}, local, fields)
  }

  #addInterface(name: string, schema: PublishedSchema, texts: FieldTexts): void {
    const fields = Object.entries(schema.properties ?? {})
    if (fields.length === 0) {
      this.lines.push(`export type ${name} = Record<string, never>`, '')
      return
    }
    this.lines.push(`export interface ${name} {`)
    for (const [field, shape] of fields) {
      const required = schema.required?.includes(field) ?? false
      this.#addDoc(texts[field], shape, required)
      this.lines.push(`  ${propertyName(field)}${required ? '' : '?'}: ${this.#typeOf(shape)}`)
    }
    this.lines.push('}', '')
  }

  addKind(kind: FactKind): void {
    const { schema } = kind.definition
    const local = kindName(this.#facts, kind)
    const typeMeta = { apiVersion: apiVersionOf(kind), kind: kind.kind }
    const fields = Object.entries(schema.properties ?? {}).filter(
      ([name]) => !['apiVersion', 'kind', 'metadata'].includes(name),
    )
    const meta = this.#typeOf({ $ref: '#/x/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta' })

    const texts = this.#textsOf(kind.definition)
    this.#addKindDoc(texts, `${describeKind(kind)} As read: deeply read-only.`)
    this.lines.push(`export interface ${local} extends ${kind.virtual ? 'Readonly<TypeMeta>' : 'KubeObject'} {`)
    for (const [name, value] of Object.entries(typeMeta)) this.lines.push(`  readonly ${name}: '${value}'`)
    if (kind.virtual) this.lines.push(`  readonly metadata: DeepReadonly<${meta}>`)
    for (const [name, shape] of fields) {
      const required = name === 'spec' || (schema.required?.includes(name) ?? false)
      this.#addDoc(texts[name], shape, required)
      this.lines.push(`  readonly ${propertyName(name)}${required ? '' : '?'}: ${this.#readTypeOf(shape)}`)
    }
    this.lines.push('}', '')

    this.#addKindDoc(
      texts,
      `${kind.kind} of ${typeMeta.apiVersion} as written: mutable, without the fields that only the server sets.`,
    )
    this.lines.push(`export interface ${local}Draft {`)
    for (const [name, value] of Object.entries(typeMeta)) this.lines.push(`  ${name}: '${value}'`)
    this.lines.push(kind.virtual ? `  metadata?: ${meta}` : '  metadata: MetaDraft')
    for (const [name, shape] of fields) {
      if (name === 'status') continue
      const needed =
        name === 'spec' ? !SPEC_OPTIONAL.has(keyOf(kind.definition)) : (schema.required?.includes(name) ?? false)
      this.#addDoc(texts[name], shape, needed)
      this.lines.push(`  ${propertyName(name)}${needed ? '' : '?'}: ${this.#typeOf(shape)}`)
    }
    this.lines.push('}', '')
    this.typeNames.push(`${local}Draft`)

    this.#addValue(kind)
  }

  #addValue(kind: FactKind): void {
    const { schema, table } = kind.definition
    const local = kindName(this.#facts, kind)
    const status = schema.properties?.['status']
    const facts = [
      `group: '${kind.group}'`,
      `version: '${kind.version}'`,
      `kind: '${kind.kind}'`,
      `plural: '${kind.plural}'`,
    ]
    if (kind.singular !== kind.kind.toLowerCase()) facts.push(`singular: '${kind.singular}'`)
    facts.push(`scope: '${kind.scope}'`)
    const list = (name: string, values: readonly string[]): void => {
      if (values.length > 0) facts.push(`${name}: [${values.map((v) => `'${v}'`).join(', ')}]`)
    }
    list('shortNames', kind.shortNames)
    list('categories', kind.categories)
    list('subresources', kind.subresources)
    const type = `Kind<${local}, ${local}Draft, ${status ? this.#typeOf(status) : 'never'}>`
    this.#addKindDoc(this.#textsOf(kind.definition), describeKind(kind))
    this.lines.push(`export const ${local}: ${type} = /* @__PURE__ */ builtinKind(tables.${tableConst(table)}, {`)
    for (const fact of facts) this.lines.push(`  ${fact},`)
    this.lines.push('})', '')
  }

  #addKindDoc({ '': text }: FieldTexts, facts: string): void {
    if (text === undefined) this.lines.push(`/** ${facts} */`)
    else this.lines.push('/**', ` * ${text}`, ' *', ` * ${facts}`, ' */')
  }

  #addDoc(text: string | undefined, shape: PublishedSchema, required: boolean): void {
    const facts: string[] = text === undefined ? [] : [text]
    const keys = shape['x-kubernetes-list-map-keys']
    if (keys) facts.push(`Merged by ${keys.join(' and ')}.`)
    const fallback = shape.default
    const tag =
      fallback !== undefined && JSON.stringify(fallback) !== '{}' && !(required && !fallback)
        ? `@default ${JSON.stringify(fallback)}`
        : undefined
    if (tag !== undefined && facts.length > 0) {
      // A tag is recognized only at the start of a line.
      this.lines.push('  /**', `   * ${facts.join(' ')}`, `   * ${tag}`, '   */')
    } else if (tag !== undefined) this.lines.push(`  /** ${tag} */`)
    else if (facts.length > 0) this.lines.push(`  /** ${facts.join(' ')} */`)
  }

  /** Returns the mutable type. */
  #typeOf(shape: PublishedSchema): string {
    const ref = referenceOf(shape)
    if (ref !== undefined) {
      const name = this.#embedded.has(`${ref.table}.${ref.local}`) ? `Embedded${ref.local}` : ref.local
      if (ref.table === this.#table) return name
      this.imports.add(ref.table)
      return `${tableAlias(this.#facts, ref.table)}.${name}`
    }
    if (shape.items) return arrayOf(this.#typeOf(shape.items), '')
    if (shape.additionalProperties) return `Record<string, ${this.#typeOf(shape.additionalProperties)}>`
    return scalarType(shape)
  }

  /** Returns the read-only type. DeepReadonly is omitted where it would change nothing. */
  #readTypeOf(shape: PublishedSchema): string {
    const ref = referenceOf(shape)
    if (ref !== undefined) {
      const opaque =
        Object.hasOwn(opaqueSchemas, ref.local) &&
        /^(string|number \| string|unknown)$/.test(OPAQUE_TYPES[ref.local] ?? '')
      return opaque ? this.#typeOf(shape) : `DeepReadonly<${this.#typeOf(shape)}>`
    }
    if (shape.items) return arrayOf(this.#readTypeOf(shape.items), 'readonly ')
    if (shape.additionalProperties) return `{ readonly [key: string]: ${this.#readTypeOf(shape.additionalProperties)} }`
    return scalarType(shape)
  }
}

/**
 * Returns the name under which the types of a table are imported: the group, with the version if the group has several.
 */
export function tableAlias(facts: ApiFacts, table: string): string {
  const group = table.split('/')[0]!
  return [...facts.tables.keys()].filter((key) => key.startsWith(`${group}/`)).length > 1 ? tableConst(table) : group
}

/** Returns the name of the constant with a table: `appsV1` for `apps/v1`. */
export function tableConst(table: string): string {
  return table.replace(/\/v/, 'V')
}

const apiVersionOf = (kind: FactKind): string => (kind.group === '' ? kind.version : `${kind.group}/${kind.version}`)

function describeKind(kind: FactKind): string {
  const scope = kind.scope === 'Namespaced' ? 'namespaced' : 'cluster-scoped'
  const names = kind.shortNames.length > 0 ? `; short names ${kind.shortNames.join(', ')}` : ''
  const what = kind.plural === '' ? 'the body of a subresource' : `${kind.plural}, ${scope}${names}`
  return `${kind.kind} of ${apiVersionOf(kind)}: ${what}.`
}

function scalarType(shape: PublishedSchema): string {
  if (shape.enum) return shape.enum.map((value) => `'${value}'`).join(' | ')
  if (shape.type === 'integer' || shape.type === 'number') return 'number'
  if (shape.type === 'boolean' || shape.type === 'string') return shape.type
  throw new Error(`No TypeScript type for ${JSON.stringify(shape)}`)
}

function arrayOf(element: string, prefix: string): string {
  return / \| /.test(element) && !/^[\w.]+<.*>$/.test(element) ? `${prefix}(${element})[]` : `${prefix}${element}[]`
}

function propertyName(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : `'${name}'`
}

/** Returns the kinds that fields of other definitions contain, except in lists. */
function embeddedKinds(facts: ApiFacts): ReadonlySet<string> {
  const found = new Set<string>()
  const visit = (shape: PublishedSchema): void => {
    const ref = referenceOf(shape)
    if (ref !== undefined && facts.kinds.has(`${ref.table}.${ref.local}`)) found.add(`${ref.table}.${ref.local}`)
    for (const field of Object.values(shape.properties ?? {})) visit(field)
    if (shape.items) visit(shape.items)
    if (shape.additionalProperties) visit(shape.additionalProperties)
  }
  for (const definitions of facts.tables.values()) {
    for (const { local, schema } of definitions) if (!local.endsWith('List')) visit(schema)
  }
  return found
}
