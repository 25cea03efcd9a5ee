import type { BuiltinResource } from './builtin-resources.ts'

/**
 * A built-in resource: the behaviour that does not follow from its schema and from discovery. The folder of a kind exports one
 * definition per resource, and `builtins.ts` lists them all.
 */
export interface BuiltinDefinition extends BuiltinResource {
  /** API group; the empty string is the core group. */
  readonly group: string
  /** Plural name, as in request paths. */
  readonly resource: string
  /** The only version that the definition applies to, where versions differ. @default every version without its own definition */
  readonly version?: string
}

/** Defines a built-in resource. A field that is left out has the default behaviour of kube-apiserver's generic registry. */
export function defineBuiltin(definition: BuiltinDefinition): BuiltinDefinition {
  return definition
}
