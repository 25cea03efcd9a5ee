import { publishedName } from './definition-name.ts'
import { type Definition, parseDefinition } from './schema-notation.ts'

/**
 * The schemas of one group and version, held as text. Nothing is parsed before the first look-up, and then only the lines that are
 * looked up: importing a table costs the loading of a string.
 */
export class SchemaTable {
  /** The subpath of the group and version, such as `apps/v1`. */
  readonly key: string
  readonly #text: string
  readonly #imports: readonly SchemaTable[]
  #lines: Map<string, string> | undefined
  readonly #definitions = new Map<string, Definition>()

  /** `imports` are all the tables that definitions of this one refer to. */
  constructor(key: string, text: string, imports: readonly SchemaTable[] = []) {
    this.key = key
    this.#text = text
    this.#imports = imports
  }

  /** Local names of all definitions, in published order. */
  names(): IterableIterator<string> {
    return this.#index().keys()
  }

  /** True when the table has a definition of this local name. */
  has(local: string): boolean {
    return this.#index().has(local)
  }

  /** The definition of a local name; throws when there is none. */
  definition(local: string): Definition {
    let definition = this.#definitions.get(local)
    if (definition === undefined) {
      const line = this.#index().get(local)
      if (line === undefined)
        throw new RangeError(`Cannot find a schema: ${publishedName(this.key, local)} is not built in`)
      definition = parseDefinition(line)
      this.#definitions.set(local, definition)
    }
    return definition
  }

  /** The table and local name that a reference in this table means. */
  locate(ref: string): { readonly table: SchemaTable; readonly local: string } {
    const dot = ref.indexOf('.')
    if (dot < 0) return { table: this, local: ref }
    const key = ref.slice(0, dot)
    const table = this.#imports.find((t) => t.key === key)
    if (table === undefined)
      throw new RangeError(`Cannot follow the reference ${ref}: ${this.key} does not import ${key}`)
    return { table, local: ref.slice(dot + 1) }
  }

  #index(): Map<string, string> {
    if (this.#lines === undefined) {
      this.#lines = new Map()
      for (const line of this.#text.split('\n')) {
        if (line === '') continue
        const blank = line.indexOf(' ')
        this.#lines.set(blank < 0 ? line : line.slice(0, blank), line)
      }
    }
    return this.#lines
  }
}
