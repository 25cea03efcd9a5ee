import { publishedName } from './definition-name.ts'
import { lineTable } from './line-table.ts'
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
  readonly #changes: string | undefined
  #lines: ReadonlyMap<string, string> | undefined
  readonly #definitions = new Map<string, Definition>()

  /** `imports` are the tables to which definitions of this one refer. `changes` replace, add and remove lines of the text. */
  constructor(key: string, text: string, imports: readonly SchemaTable[] = [], changes?: string) {
    this.key = key
    this.#text = text
    this.#imports = imports
    this.#changes = changes
  }

  /** Returns the table of another release: its lines are those of this one with `changes`, its references lead to `imports`. */
  derive(changes: string | undefined, imports: readonly SchemaTable[]): SchemaTable {
    return new SchemaTable(this.key, this.#text, imports, changes)
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

  #index(): ReadonlyMap<string, string> {
    return (this.#lines ??= lineTable(this.#text, this.#changes))
  }
}
