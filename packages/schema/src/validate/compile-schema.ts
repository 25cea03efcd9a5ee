import { append, isJsonObject } from '@kubewright/base'
import { type FieldError, invalid } from '../field/field-error.ts'
import { FieldPath } from '../field/field-path.ts'
import type { JSONSchemaProps } from '../model/json-schema.ts'
import { StructuralNode } from '../model/structural-node.ts'
import { applyDefaults, dropNulls } from './apply-defaults.ts'
import { Correlation } from './correlation.ts'
import { type CoerceOptions, type CoerceResult, checkEmbedded, coerceMetadata } from './embedded-resources.ts'
import { validateExactly } from './exact-validate.ts'
import { type Check, CheckCompiler } from './fast-check.ts'
import { checkListTypes, hasListTypeErrors } from './list-types.ts'
import { toFieldErrors } from './problem.ts'
import { applyPrunedDefaults } from './prune-defaults.ts'
import { pruneAndReport, pruneFields } from './prune-fields.ts'
import { RuleValidator } from './rule-validator.ts'

/** Options of {@link compileSchema}. */
export interface CompileSchemaOptions {
  /**
   * Whether the schema describes a complete resource, for which apiVersion, kind and metadata are implied.
   * @default true
   */
  readonly resource?: boolean | undefined
}

/** Options of a validation. */
export interface ValidateOptions {
  /** The path of the value; field paths of errors start here. @default the root */
  readonly path?: FieldPath | undefined
  /** Errors found before. Rules are skipped if one of them makes their evaluation unsafe, as in the API server. */
  readonly preceding?: readonly FieldError[] | undefined
  /** Receives the text of each rule that fails on an unchanged value, which is not an error in an update. */
  readonly onWarning?: ((text: string) => void) | undefined
}

/**
 * Compiles a structural schema into the operations that the API server performs on objects.
 *
 * Parts of the schema are compiled when an object first reaches them, so compilation is cheap for large and even cyclic
 * schemas.
 *
 * @example
 * const n = { type: 'integer', default: 3 }
 * const schema = compileSchema({ type: 'object', properties: { spec: { type: 'object', properties: { n } } } })
 * const object = { spec: { x: 1 } }
 * schema.prune(object)      // ['spec.x']
 * schema.default(object)    // { spec: { n: 3 } }
 * schema.validate(object)   // []
 */
export function compileSchema(json: JSONSchemaProps, options: CompileSchemaOptions = {}): StructuralSchema {
  return new StructuralSchema(json, options.resource ?? true)
}

const BLOCKED =
  'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation'

/** A compiled schema. Immutable and shareable. Processing valid objects allocates almost nothing. */
export class StructuralSchema {
  readonly json: JSONSchemaProps
  readonly #node: StructuralNode
  readonly #pruneNode: StructuralNode
  readonly #check: Check
  readonly #resource: boolean
  #rules: RuleValidator | null | undefined
  #status: StructuralSchema | null | undefined

  /** Use {@link compileSchema}. */
  constructor(json: JSONSchemaProps, resource: boolean) {
    this.json = json
    this.#resource = resource
    this.#node = withPrunedDefaults(StructuralNode.of(json), resource)
    this.#pruneNode = resource ? this.#node.asResourceRoot() : this.#node
    this.#check = new CheckCompiler('resource').compile(json)
  }

  /** Fills in defaults in place: for absent fields, and for null where the schema does not allow null. Idempotent. */
  default(value: unknown): void {
    applyDefaults(value, this.#node)
  }

  /**
   * Removes unspecified fields in place and returns their sorted paths, such as `spec.list[0].x`, for
   * `unknown field "…"` messages. Idempotent.
   */
  prune(value: unknown): string[] {
    return pruneAndReport(value, this.#pruneNode)
  }

  /** Like {@link StructuralSchema.prune}, but does not report the removed fields. */
  pruneSilently(value: unknown): void {
    pruneFields(value, this.#pruneNode)
  }

  /**
   * Removes nulls in place that are neither allowed nor defaulted. The API server does this between pruning and
   * defaulting.
   */
  dropNulls(value: unknown): void {
    dropNulls(value, this.#node)
  }

  /**
   * Prepares a decoded object in place, in the order of the API server: prunes, drops nulls, normalises the metadata of
   * embedded resources, and fills in defaults. Returns the removed fields. If the metadata is malformed, returns the
   * error and skips defaulting.
   */
  normalize(value: unknown, options: CoerceOptions = { dropInvalid: false }): CoerceResult {
    const pruned = this.prune(value)
    this.dropNulls(value)
    const { error, unknown } = this.coerceMetadata(value, options)
    if (error === undefined) this.default(value)
    return { error, unknown: [...pruned, ...unknown] }
  }

  /**
   * Normalises type and object metadata of embedded resources in place. The metadata of the value itself is not
   * changed.
   */
  coerceMetadata(value: unknown, options: CoerceOptions = { dropInvalid: false }): CoerceResult {
    return coerceMetadata(value, this.#node, FieldPath.none, options)
  }

  /**
   * Reports whether the value satisfies the keywords of the schema (types, bounds, formats, junctors). Rules are not
   * evaluated.
   */
  accepts(value: unknown): boolean {
    return this.#check(value)
  }

  /** Validates a new value: keywords, embedded resources, list types, then rules. Empty if the value is valid. */
  validate(value: unknown, options: ValidateOptions = {}): FieldError[] {
    const path = options.path ?? FieldPath.none
    const errors = this.validateKeywords(value, path)
    checkEmbedded(value, this.#node, path, errors)
    if (hasListTypeErrors(value, this.#node)) checkListTypes(value, this.#node, path, errors)
    this.#runRules(value, undefined, undefined, path, options, errors)
    return errors
  }

  /**
   * Validates a value that replaces an old one. Errors in unchanged parts are ignored (ratcheting). Parts are matched
   * by field name and, in lists of type map, by key.
   */
  validateUpdate(value: unknown, old: unknown, options: ValidateOptions = {}): FieldError[] {
    const path = options.path ?? FieldPath.none
    // Created only if a check fails, and shared by keywords and rules.
    let known: Correlation | undefined
    const correlation = (): Correlation => (known ??= new Correlation(value, old, this.#node))
    const errors = this.#keywordsOfUpdate(value, correlation, path)
    checkEmbedded(value, this.#node, path, errors)
    this.#checkListTypesOfUpdate(value, old, path, errors)
    this.#runRules(value, old, correlation, path, options, errors)
    return errors
  }

  /**
   * Like {@link StructuralSchema.validateUpdate} for the status subresource: keywords are checked only for `status`.
   */
  validateStatusUpdate(value: unknown, old: unknown, options: ValidateOptions = {}): FieldError[] {
    const path = options.path ?? FieldPath.none
    let known: Correlation | undefined
    const correlation = (): Correlation => (known ??= new Correlation(value, old, this.#node))
    const errors: FieldError[] = []
    const status = this.#statusSchema()
    if (status !== undefined && isJsonObject(value) && value['status'] !== undefined) {
      const ownStatus = value['status']
      const oldStatus = isJsonObject(old) ? (old['status'] ?? null) : null
      const statusCorrelation = (): Correlation =>
        correlation().key('status') ?? new Correlation(ownStatus, oldStatus, status.#node)
      append(errors, status.#keywordsOfUpdate(ownStatus, statusCorrelation, path.child('status')))
    }
    this.#checkListTypesOfUpdate(value, old, path, errors)
    this.#runRules(value, old, correlation, path, options, errors)
    return errors
  }

  /** Validates the keywords of the schema (types, bounds, formats, junctors). */
  validateKeywords(value: unknown, path: FieldPath = FieldPath.none): FieldError[] {
    if (this.#check(value)) return []
    return toFieldErrors(validateExactly(this.json, value, '', 'resource').problems, path)
  }

  #keywordsOfUpdate(value: unknown, correlation: () => Correlation, path: FieldPath): FieldError[] {
    if (this.#check(value)) return []
    return toFieldErrors(validateExactly(this.json, value, '', 'resource', correlation()).problems, path)
  }

  #checkListTypesOfUpdate(value: unknown, old: unknown, path: FieldPath, errors: FieldError[]): void {
    if (!hasListTypeErrors(value, this.#node)) return
    const found: FieldError[] = []
    checkListTypes(value, this.#node, path, found)
    if (found.length === 0) return
    const before: FieldError[] = []
    checkListTypes(old, this.#node, path, before)
    if (before.length === 0) append(errors, found)
  }

  #runRules(
    value: unknown,
    old: unknown,
    correlation: (() => Correlation) | undefined,
    path: FieldPath,
    options: ValidateOptions,
    errors: FieldError[],
  ): void {
    if (this.#rules === undefined) this.#rules = RuleValidator.of(this.#node, this.#resource)
    if (this.#rules === null) return
    if (errors.some(blocksRules) || options.preceding?.some(blocksRules) === true) {
      errors.push(invalid(FieldPath.none, null, BLOCKED))
      return
    }
    const found = this.#rules.validate(value, old, path, { correlation, onWarning: options.onWarning })
    append(errors, found)
  }

  #statusSchema(): StructuralSchema | undefined {
    if (this.#status === undefined) {
      const json = this.json.properties?.['status']
      this.#status = json === undefined ? null : new StructuralSchema(json, false)
    }
    return this.#status ?? undefined
  }
}

/**
 * CRD validation does not check defaults in the metadata of embedded resources for unknown fields, so they are removed
 * here.
 */
function withPrunedDefaults(node: StructuralNode, resource: boolean): StructuralNode {
  if (!resource || !node.has('embedded') || !node.has('defaults')) return node
  return StructuralNode.of(applyPrunedDefaults(node.json))
}

/** Reports whether an error prevents rules from running: they may assume values of the right shape and bounded size. */
function blocksRules(error: FieldError): boolean {
  switch (error.type) {
    case 'FieldValueNotSupported':
    case 'FieldValueRequired':
    case 'FieldValueTooLong':
    case 'FieldValueTooMany':
    case 'FieldValueTypeInvalid':
      return true
    default:
      return false
  }
}
