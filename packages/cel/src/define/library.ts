import type { CelMacro } from '../syntax/macro.ts'
import type { CelType } from '../values/cel-type.ts'
import type { CelValue } from '../values/values.ts'
import type { CostEstimate, CostNode, FunctionCost } from './cost-estimate.ts'

/** One signature of a function. */
export interface CelOverload {
  /** Unique in the environment. Cost rules and checked expressions refer to it. Use cel-go's id if there is one. */
  readonly id: string
  /** The argument types. The first one of a member overload is the receiver. */
  readonly args: readonly CelType[]
  readonly result: CelType
  /** Whether the overload is called as `receiver.fn(...)`. @default false */
  readonly member?: boolean | undefined
  /** Overrides the cost of the function for this overload. */
  readonly cost?: FunctionCost | undefined
  /**
   * The implementation. Optional if the function has one for all its overloads. Throw a CelError to fail. The run-time
   * types of the values match `args` (lists and maps by kind only), so an implementation may declare narrower
   * parameters; this is a method because method parameters are bivariant.
   */
  evaluate?(...args: CelValue[]): CelValue
}

/** A function and its overloads. The environment merges functions of the same name from several libraries. */
export interface CelFunction {
  readonly name: string
  readonly overloads: readonly CelOverload[]
  readonly cost?: FunctionCost | undefined
  /** The implementation of all overloads that have none of their own. It must check its argument types. */
  evaluate?(...args: CelValue[]): CelValue
}

/** A type that a library declares. */
export interface CelTypeDeclaration {
  readonly type: CelType
  /** The identifier that denotes the type, or `false` for none. @default the name of the type */
  readonly identifier?: string | false | undefined
  /** The fields of a struct type; an opaque type has none. */
  readonly fields?: Readonly<Record<string, CelType>> | undefined
  /** Estimates the cost of `==` between two values of this type. @default the rule for values of unknown size */
  equalityCost?(left: CostNode, right: CostNode): CostEstimate
  /** Creates a value from an object literal `Type{...}`. Without it, such literals fail. */
  construct?(fields: ReadonlyMap<string, CelValue>): CelValue
}

/** A set of functions, types and macros that can be added to an environment. Stateless and shareable. */
export interface CelLibrary {
  readonly name: string
  readonly functions?: readonly CelFunction[] | undefined
  readonly types?: readonly CelTypeDeclaration[] | undefined
  readonly macros?: readonly CelMacro[] | undefined
  /** Declares a type that is not in `types`, by its name. For libraries with an unlimited number of types. */
  resolveType?(name: string): CelTypeDeclaration | undefined
}

/**
 * Defines a library whose declarations are built when they are first needed. Tables of functions take longer to build than the rest of this
 * package takes to load, and most programs that import it never evaluate an expression.
 */
export function defineLibrary(name: string, build: () => Omit<CelLibrary, 'name'>): CelLibrary {
  let built: Omit<CelLibrary, 'name'> | undefined
  const parts = (): Omit<CelLibrary, 'name'> => (built ??= build())
  return {
    name,
    get functions() {
      return parts().functions ?? []
    },
    get types() {
      return parts().types ?? []
    },
    get macros() {
      return parts().macros ?? []
    },
  }
}
