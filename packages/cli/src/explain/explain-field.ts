import { isJsonObject, KubewrightError } from '@kubewright/base'
import { indentLines, wrapWords } from '../terminal/wrap-words.ts'

type Json = Readonly<Record<string, unknown>>

/** The kind or field to explain. */
export interface ExplainRequest {
  readonly group: string
  readonly version: string
  readonly kind: string
  /** The names of fields, from the top. */
  readonly path: readonly string[]
  /** Whether to list the fields of all levels, without descriptions. */
  readonly recursive?: boolean | undefined
}

/** Describes a kind or field of an OpenAPI v3 document, in the layout of `kubectl explain`. Throws if there is no such field. */
export function explainField(document: unknown, request: ExplainRequest): string {
  const { group, kind, version, path } = request
  const schemas = schemasOf(document)
  const root = Object.values(schemas).find((schema) => isJsonObject(schema) && describes(schema, request))
  if (!isJsonObject(root))
    throw new KubewrightError('KW_COMMAND', `The OpenAPI document of ${group}/${version} does not describe ${kind}`)
  const explainer = new Explainer(schemas, request.recursive ?? false)
  const text = explainer.describe(root, path)
  if (text === undefined) throw new KubewrightError('KW_COMMAND', `field "${path.at(-1)}" does not exist`)
  const head = `${group === '' ? '' : `GROUP:      ${group}\n`}KIND:       ${kind}\nVERSION:    ${version}\n\n`
  return `${head}${text}\n`
}

/** The schema of a field, with its own reference resolved; undefined if there is no such field. */
export function fieldSchema(document: unknown, request: ExplainRequest): unknown {
  const schemas = schemasOf(document)
  const root = Object.values(schemas).find((schema) => isJsonObject(schema) && describes(schema, request))
  return isJsonObject(root) ? new Explainer(schemas, false).find(root, request.path)?.target : undefined
}

function schemasOf(document: unknown): Json {
  const components = isJsonObject(document) ? document['components'] : undefined
  const schemas = isJsonObject(components) ? components['schemas'] : undefined
  return isJsonObject(schemas) ? schemas : {}
}

function describes(schema: Json, { group, version, kind }: ExplainRequest): boolean {
  const kinds = schema['x-kubernetes-group-version-kind']
  return (
    Array.isArray(kinds) &&
    kinds.some(
      (one) => isJsonObject(one) && one['group'] === group && one['version'] === version && one['kind'] === kind,
    )
  )
}

interface Found {
  /** The schema of the property, possibly a reference; undefined for the kind itself. */
  readonly field: Json | undefined
  readonly target: Json
}

class Explainer {
  readonly #schemas: Json
  readonly #recursive: boolean

  constructor(schemas: Json, recursive: boolean) {
    this.#schemas = schemas
    this.#recursive = recursive
  }

  describe(root: Json, path: readonly string[]): string | undefined {
    const found = this.find(root, path)
    if (found === undefined) return undefined
    const { field, target } = found
    const head = field === undefined ? '' : `FIELD: ${path.at(-1)} <${this.#typeOf(field)}>\n${longEnum(field)}\n\n`
    const prose = this.#prose(target)
    const description = indentLines(wrapWords(prose === '' ? '<empty>' : prose, 76), 4)
    const fields = this.#fields(target, 1, new Set())
    return `${head}DESCRIPTION:\n${description}\n${fields === '' ? '' : `FIELDS:\n${fields}`}`
  }

  /** Follows field names through references, lists and maps. */
  find(schema: Json, path: readonly string[], seen: ReadonlySet<string> = new Set()): Found | undefined {
    const reference = schema['$ref']
    if (typeof reference === 'string' && seen.has(reference)) return undefined
    const target = this.#resolve(schema)
    const [name, ...rest] = path
    if (name === undefined) return { field: undefined, target }
    const next = typeof reference === 'string' ? new Set([...seen, reference]) : seen
    const property = propertiesOf(target)[name]
    if (isJsonObject(property)) {
      const found = this.find(property, rest)
      return found && rest.length === 0 ? { field: property, target: found.target } : found
    }
    for (const inner of innerOf(target)) {
      const found = this.find(inner, path, next)
      if (found !== undefined) return found
    }
    return undefined
  }

  #resolve(schema: Json): Json {
    const reference = schema['$ref']
    const found = typeof reference === 'string' ? this.#schemas[reference.split('/').pop() ?? ''] : undefined
    return isJsonObject(found) ? found : schema
  }

  /** The descriptions of a schema and of its parts. */
  #prose(schema: Json): string {
    const target = this.#resolve(schema)
    const { description } = target
    const own = typeof description === 'string' && description !== '' ? `${description}\n` : ''
    const parts = [...allOf(target), ...elementOf(target)]
    return own + parts.map((part) => this.#prose(part)).join('')
  }

  #fields(schema: Json, level: number, seen: ReadonlySet<string>): string {
    const reference = schema['$ref']
    if (typeof reference === 'string' && seen.has(reference)) return ''
    const inside = typeof reference === 'string' ? new Set([...seen, reference]) : seen
    const target = this.#resolve(schema)
    const own = Object.entries(propertiesOf(target)).sort(([a], [b]) => (a < b ? -1 : 1))
    const lines = own.map(([name, field]) => {
      if (!isJsonObject(field)) return ''
      const deeper = this.#recursive ? this.#fields(field, level + 1, inside) : ''
      return this.#field(name, field, target, level * 2) + deeper
    })
    const parts = [...allOf(target), ...elementOf(target)].map((part) => this.#fields(part, level, inside))
    return [...lines, ...parts].join('')
  }

  #field(name: string, field: Json, owner: Json, indent: number): string {
    const required = Array.isArray(owner['required']) && owner['required'].includes(name) ? ' -required-' : ''
    const head = `${' '.repeat(indent)}${name}\t<${this.#typeOf(field)}>${required}${shortEnum(field, indent)}\n`
    if (this.#recursive) return head
    const { description } = field
    const prose = typeof description === 'string' && description !== '' ? description : '<no description>'
    return `${head}${indentLines(wrapWords(prose, 78 - indent), indent + 2)}\n\n`
  }

  #typeOf(schema: Json): string {
    const { items, additionalProperties, type, $ref: reference } = schema
    if (isJsonObject(items)) return `[]${this.#typeOf(items)}`
    if (isJsonObject(additionalProperties)) return `map[string]${this.#typeOf(additionalProperties)}`
    const [only, ...others] = allOf(schema)
    if (only !== undefined && others.length === 0 && schema['properties'] === undefined) return this.#typeOf(only)
    if (typeof reference === 'string') {
      const target = this.#schemas[reference.split('/').pop() ?? '']
      const primitive = isJsonObject(target) ? target['type'] : undefined
      if (typeof primitive === 'string' && primitive !== 'object') return primitive
      return reference.split('/').pop()?.split('.').pop() || 'Object'
    }
    return typeof type === 'string' && type !== '' && type !== 'object' ? type : 'Object'
  }
}

function propertiesOf(schema: Json): Json {
  const { properties } = schema
  return isJsonObject(properties) ? properties : {}
}

const allOf = (schema: Json): Json[] => (Array.isArray(schema['allOf']) ? schema['allOf'].filter(isJsonObject) : [])

/** The schemas of the elements of lists and maps. */
function elementOf({ items, additionalProperties }: Json): Json[] {
  return [items, additionalProperties].filter(isJsonObject)
}

/** The schemas to search for names that a schema does not have itself, in the order of kubectl. */
function innerOf(schema: Json): Json[] {
  const [element] = elementOf(schema)
  return element === undefined ? allOf(schema) : [element]
}

const shownValues = 4

function valuesOf(schema: Json): string[] {
  const values = schema['enum']
  return Array.isArray(values) ? values.map((value) => (value === '' ? '""' : String(value))) : []
}

function longEnum(schema: Json): string {
  const values = valuesOf(schema)
  return values.length === 0 ? '' : `ENUM:${values.map((value) => `\n    ${value}`).join('')}`
}

function shortEnum(schema: Json, indent: number): string {
  const values = valuesOf(schema)
  if (values.length === 0) return ''
  const more = values.length > shownValues ? ', ....' : ''
  return `\n${' '.repeat(indent)}enum: ${values.slice(0, shownValues).join(', ')}${more}`
}
