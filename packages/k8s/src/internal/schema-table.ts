import { publishedName } from './definition-name.ts'
import { type Definition, parseDefinition } from './schema-notation.ts'

/**
 * The schemas of one group and version, stored as text. Nothing is parsed before the first lookup, and then only the
 * requested lines: importing a table costs no more than loading a string.
 */
export class SchemaTable {
  /** The subpath of the group and version, such as `apps/v1`. */
  readonly key: string
  readonly #text: string
  readonly #imports: readonly SchemaTable[]
  #lines: Map<string, string> | undefined
  readonly #definitions = new Map<string, Definition>()

  /** `imports` are the tables to which definitions of this one refer. */
  constructor(key: string, text: string, imports: readonly SchemaTable[] = []) {
    this.key = key
    this.#text = text
    this.#imports = imports
  }

  /** Returns the local names of all definitions, in published order. */
  names(): IterableIterator<string> {
    return this.#index().keys()
  }

  has(local: string): boolean {
    return this.#index().has(local)
  }

  /** Returns the definition with a local name. Throws a RangeError if there is none. */
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

  /** Returns the table and the local name to which a reference in this table refers. */
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
