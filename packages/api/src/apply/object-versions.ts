import type { FieldSet } from '../fieldset/field-set.ts'
import type { FieldSetFilter } from '../fieldset/field-set-filter.ts'
import { type Comparison, compareTyped } from './compare.ts'
import type { TypeNode } from './type-node.ts'
import { TypedValueError } from './validate-typed.ts'

/** A value with its type and API version. */
export interface TypedValue {
  readonly value: unknown
  readonly type: TypeNode
  readonly apiVersion: string
}

/** Converts a value to another version; undefined when that version no longer exists. */
export type ConvertTyped = (object: TypedValue, apiVersion: string) => TypedValue | undefined

/** The API versions of a kind: how objects are converted to them, and which fields have no owner in them. */
export class ObjectVersions {
  readonly #convert: ConvertTyped
  readonly #filterOf: (apiVersion: string) => FieldSetFilter | undefined

  constructor(convert: ConvertTyped, filterOf: (apiVersion: string) => FieldSetFilter | undefined) {
    this.#convert = convert
    this.#filterOf = filterOf
  }

  /**
   * Converts an object; undefined when the version no longer exists. When the result does not match the schema of the version, throws a
   * TypedValueError that starts with `failure`.
   */
  to(object: TypedValue, apiVersion: string, failure?: string): TypedValue | undefined {
    try {
      return this.#convert(object, apiVersion)
    } catch (error) {
      if (failure === undefined || !(error instanceof TypedValueError)) throw error
      throw new TypedValueError([`${failure}: ${error.message}`])
    }
  }

  /** The fields of a set that a manager may own in a version. */
  ownable(apiVersion: string, set: FieldSet): FieldSet {
    return this.#filterOf(apiVersion)?.(set) ?? set
  }

  /** The differences in fields that a manager may own, between two objects of the same version. */
  compare(before: TypedValue, after: TypedValue): Comparison {
    const comparison = compareTyped(before.type, before.value, after.value)
    const filter = this.#filterOf(before.apiVersion)
    if (filter === undefined) return comparison
    const { removed, modified, added } = comparison
    return { removed: filter(removed), modified: filter(modified), added: filter(added) }
  }
}

/** The change from one object to another, as it appears in each API version. Versions are compared on first use. */
export class ObjectChange {
  readonly #versions: ObjectVersions
  readonly #before: TypedValue
  readonly #after: TypedValue
  readonly #comparisons = new Map<string, Comparison>()

  /** Both objects must be of the same version. */
  constructor(versions: ObjectVersions, before: TypedValue, after: TypedValue) {
    this.#versions = versions
    this.#before = before
    this.#after = after
    this.#comparisons.set(after.apiVersion, versions.compare(before, after))
  }

  /** The fields that were set or changed, in the version of the objects. */
  get written(): FieldSet {
    const { modified, added } = this.#comparisons.get(this.#after.apiVersion) as Comparison
    return modified.union(added)
  }

  /** The change in a version; undefined when the version no longer exists. */
  in(apiVersion: string): Comparison | undefined {
    const known = this.#comparisons.get(apiVersion)
    if (known !== undefined) return known
    const before = this.#versions.to(this.#before, apiVersion, 'failed to convert old object')
    const after = before && this.#versions.to(this.#after, apiVersion, 'failed to convert new object')
    if (before === undefined || after === undefined) return undefined
    const comparison = this.#versions.compare(before, after)
    this.#comparisons.set(apiVersion, comparison)
    return comparison
  }
}
