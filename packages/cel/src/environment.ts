import type { Declarations, VariableDeclaration } from './define/declarations.ts'
import type { CelFunction, CelLibrary, CelTypeDeclaration } from './define/library.ts'
import type { CelExpression } from './expression.ts'
import { compileExpression } from './expression.ts'
import type { DeclaredType } from './schema/declared-type.ts'
import { OPTIONAL_LIBRARY } from './standard/optional-library.ts'
import { STANDARD_LIBRARY } from './standard/standard-library.ts'
import type { CelMacro } from './syntax/macro.ts'
import { macroKey } from './syntax/macro-key.ts'
import { type CelType, optionalType, CelType as Type, typeOfType } from './values/cel-type.ts'

/** The additions to an environment. */
export interface EnvironmentOptions {
  readonly libraries?: readonly CelLibrary[] | undefined
  readonly variables?: Readonly<Record<string, VariableDeclaration>> | undefined
}

interface Tables {
  readonly functions: ReadonlyMap<string, CelFunction>
  readonly macros: ReadonlyMap<string, CelMacro>
  readonly types: ReadonlyMap<string, CelTypeDeclaration>
  /** Maps type identifiers to the types they denote. */
  readonly typeIdents: ReadonlyMap<string, CelType>
  readonly variables: ReadonlyMap<string, VariableDeclaration>
  /** Maps type names to declared objects. */
  readonly structs: ReadonlyMap<string, DeclaredType>
  readonly typeResolvers: readonly NonNullable<CelLibrary['resolveType']>[]
}

/**
 * The functions, types, macros and variables that expressions may refer to. Immutable. An extended environment shares
 * everything that it does not add, so create a base environment once and extend it for each schema.
 */
export class CelEnvironment implements Declarations {
  readonly #tables: Tables

  private constructor(tables: Tables) {
    this.#tables = tables
  }

  /** Creates an environment with the standard library, optional types and the given additions. */
  static create(options: EnvironmentOptions = {}): CelEnvironment {
    const empty: Tables = {
      functions: new Map(),
      macros: new Map(),
      types: new Map(),
      typeIdents: new Map(),
      variables: new Map(),
      structs: new Map(),
      typeResolvers: [],
    }
    return new CelEnvironment(empty).extend({
      ...options,
      libraries: [STANDARD_LIBRARY, OPTIONAL_LIBRARY, ...(options.libraries ?? [])],
    })
  }

  /**
   * Returns this environment with additions. Variables of the same name are replaced, functions of the same name are
   * merged.
   */
  extend(options: EnvironmentOptions): CelEnvironment {
    const tables = { ...this.#tables }
    if (options.libraries !== undefined && options.libraries.length > 0)
      Object.assign(tables, addLibraries(tables, options.libraries))
    if (options.variables !== undefined) Object.assign(tables, addVariables(tables, options.variables))
    return new CelEnvironment(tables)
  }

  /** Parses, checks and plans an expression. Throws a CelCompileError or a CelPlanError. */
  compile(source: string): CelExpression {
    return compileExpression(this, source)
  }

  get macros(): ReadonlyMap<string, CelMacro> {
    return this.#tables.macros
  }

  identType(name: string): CelType | undefined {
    const variable = this.#tables.variables.get(name)
    if (variable !== undefined) return variableType(variable)
    const type = this.typeValue(name)
    return type === undefined ? undefined : typeOfType(type)
  }

  /** Returns the type that an identifier denotes. */
  typeValue(name: string): CelType | undefined {
    return this.#tables.typeIdents.get(name) ?? this.#resolvedType(name)?.type
  }

  function(name: string): CelFunction | undefined {
    return this.#tables.functions.get(name)
  }

  hasStruct(name: string): boolean {
    return this.#tables.structs.has(name) || this.typeDeclaration(name)?.fields !== undefined
  }

  fieldType(struct: string, field: string): CelType | undefined {
    const declared = this.#tables.structs.get(struct)
    if (declared !== undefined) return declared.fields?.get(field)?.type.type
    return this.typeDeclaration(struct)?.fields?.[field]
  }

  variable(name: string): VariableDeclaration | undefined {
    return this.#tables.variables.get(name)
  }

  /** The first variable that has a schema. */
  get declaredVariable(): VariableDeclaration | undefined {
    for (const variable of this.#tables.variables.values()) {
      if (!(variable instanceof Type)) return variable
    }
    return undefined
  }

  struct(name: string): DeclaredType | undefined {
    return this.#tables.structs.get(name)
  }

  typeDeclaration(name: string): CelTypeDeclaration | undefined {
    return this.#tables.types.get(name) ?? this.#resolvedType(name)
  }

  #resolvedType(name: string): CelTypeDeclaration | undefined {
    for (const resolve of this.#tables.typeResolvers) {
      const found = resolve(name)
      if (found) return found
    }
    return undefined
  }
}

function variableType(variable: VariableDeclaration): CelType {
  if (variable instanceof Type) return variable
  return 'optional' in variable ? optionalType(variable.optional.type) : variable.type
}

function addLibraries(tables: Tables, libraries: readonly CelLibrary[]): Partial<Tables> {
  const functions = new Map(tables.functions)
  const macros = new Map(tables.macros)
  const types = new Map(tables.types)
  const typeIdents = new Map(tables.typeIdents)
  const typeResolvers = [...tables.typeResolvers]
  for (const library of libraries) {
    if (library.resolveType) typeResolvers.push((name) => library.resolveType?.(name))
    for (const fn of library.functions ?? []) functions.set(fn.name, mergeFunctions(functions.get(fn.name), fn))
    for (const macro of library.macros ?? []) macros.set(macroKey(macro.fn, macro.argCount, macro.receiver), macro)
    for (const declaration of library.types ?? []) {
      types.set(declaration.type.name, declaration)
      if (declaration.identifier !== false)
        typeIdents.set(declaration.identifier ?? declaration.type.name, declaration.type)
    }
  }
  return { functions, macros, types, typeIdents, typeResolvers }
}

/** Merges two declarations of one function. An implementation for all overloads is copied to each of its overloads. */
function mergeFunctions(known: CelFunction | undefined, added: CelFunction): CelFunction {
  if (known === undefined) return added
  const ids = new Set(known.overloads.map((o) => o.id))
  const overloads = [...withOwnImplementations(known), ...withOwnImplementations(added).filter((o) => !ids.has(o.id))]
  const cost = known.cost ?? added.cost
  return { name: known.name, overloads, ...(cost === undefined ? {} : { cost }) }
}

function withOwnImplementations(fn: CelFunction): CelFunction['overloads'] {
  const { evaluate } = fn
  if (evaluate === undefined) return fn.overloads
  return fn.overloads.map((o) => (o.evaluate === undefined ? { ...o, evaluate } : o))
}

function addVariables(tables: Tables, added: Readonly<Record<string, VariableDeclaration>>): Partial<Tables> {
  const variables = new Map(tables.variables)
  const structs = new Map(tables.structs)
  for (const [name, variable] of Object.entries(added)) {
    variables.set(name, variable)
    if (!(variable instanceof Type)) collectStructs('optional' in variable ? variable.optional : variable, structs)
  }
  return { variables, structs }
}

function collectStructs(declared: DeclaredType, structs: Map<string, DeclaredType>): void {
  if (declared.type.kind === 'struct') {
    if (structs.get(declared.type.name) === declared) return
    structs.set(declared.type.name, declared)
  }
  if (declared.element !== undefined) collectStructs(declared.element, structs)
  for (const field of declared.fields?.values() ?? []) collectStructs(field.type, structs)
}
