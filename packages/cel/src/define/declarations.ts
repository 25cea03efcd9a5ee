import type { DeclaredType } from '../schema/declared-type.ts'
import type { CelMacro } from '../syntax/macro.ts'
import type { CelType } from '../values/cel-type.ts'
import type { CelFunction, CelTypeDeclaration } from './library.ts'

/**
 * The declaration of a variable: a type, or a schema for data that has one. With `optional`, the variable may be
 * missing and expressions see an optional value.
 */
export type VariableDeclaration = CelType | DeclaredType | { readonly optional: DeclaredType }

/** The declarations that the compiler of expressions looks up. */
export interface Declarations {
  readonly macros: ReadonlyMap<string, CelMacro>
  /** Returns the type of a variable, or of a type identifier. */
  identType(name: string): CelType | undefined
  /** Returns the type that an identifier denotes. */
  typeValue(name: string): CelType | undefined
  function(name: string): CelFunction | undefined
  /** Reports whether the name denotes a struct type. */
  hasStruct(name: string): boolean
  fieldType(struct: string, field: string): CelType | undefined
  variable(name: string): VariableDeclaration | undefined
  /** The first variable that has a schema. */
  readonly declaredVariable: VariableDeclaration | undefined
  struct(name: string): DeclaredType | undefined
  typeDeclaration(name: string): CelTypeDeclaration | undefined
}
