import type { CelType } from './cel-type.ts'
import type { CostEstimate, CostNode, FunctionCost } from './cost-estimate.ts'
import type { CelMacro } from './macro.ts'
import type { CelValue } from './values.ts'

/** One signature of a function. */
export interface CelOverload {
  /** Unique in the environment; cost rules and the checked expression refer to it. Use cel-go's id where it has one. */
  readonly id: string
  /** The argument types; a member overload's first is its receiver. */
  readonly args: readonly CelType[]
  readonly result: CelType
  /** Whether it is called as `receiver.fn(...)`. @default false */
  readonly member?: boolean
  /** Overrides the cost of the function for this overload. */
  readonly cost?: FunctionCost
  /**
   * The implementation; may be left out if the function has one for all its overloads. It is called with values whose runtime types
   * match `args` (lists and maps by kind only), so it may declare narrower parameters: this is a method on purpose, for its
   * bivariant parameters. Throw a CelError to fail.
   */
  evaluate?(...args: CelValue[]): CelValue
}

/** A function and its overloads. Functions of the same name in several libraries are merged. */
export interface CelFunction {
  readonly name: string
  readonly overloads: readonly CelOverload[]
  readonly cost?: FunctionCost
  /** One implementation for all overloads that have none of their own; checks its argument types itself. */
  evaluate?(...args: CelValue[]): CelValue
}

/** A type that a library brings along. */
export interface CelTypeDeclaration {
  readonly type: CelType
  /** The identifier that yields the type value, or `false` for none. @default the type's name */
  readonly identifier?: string | false
  /** The fields of a struct type; an opaque type has none. */
  readonly fields?: Readonly<Record<string, CelType>>
  /** The static cost of `==` between two values of this type. @default the rule for values of unknown size */
  equalityCost?(left: CostNode, right: CostNode): CostEstimate
  /** Makes a value from an object literal `Type{...}`; without it literals fail. */
  construct?(fields: ReadonlyMap<string, CelValue>): CelValue
}

/** A set of functions, types, macros and constants which an environment can be given. Stateless and shareable. */
export interface CelLibrary {
  readonly name: string
  readonly functions?: readonly CelFunction[]
  readonly types?: readonly CelTypeDeclaration[]
  readonly macros?: readonly CelMacro[]
}
