import { deepCopy, deepEqual } from '@kubewright/base'
import { aggregateText, type FieldError, invalid } from '../field-error.ts'
import { FieldPath } from '../field-path.ts'
import { checkEmbedded, coerceMetadata } from '../internal/embedded-resources.ts'
import { validateExactly } from '../internal/exact-validate.ts'
import { CheckCompiler } from '../internal/fast-check.ts'
import { toFieldErrors } from '../internal/problem.ts'
import { pruneFields } from '../internal/prune-fields.ts'
import { RULE_COST_BUDGET, RuleValidator } from '../internal/rule-validator.ts'
import type { JsonObject, StructuralNode } from '../internal/structural-node.ts'

/** A field name, or the item of a list. */
type Step = string | typeof ITEM
const ITEM: unique symbol = Symbol('item')

/** Where a default stands, seen from the resource that it is part of. */
interface Position {
  readonly resource: StructuralNode
  readonly steps: readonly Step[]
  /** Whether it is within the type or object metadata of that resource. */
  readonly insideMeta: boolean
}

/**
 * Checks that each default is a valid value at its place, and one that pruning leaves alone.
 *
 * As in apiextensions-apiserver/pkg/apiserver/schema/defaulting/validation.go. All rules share one cost budget.
 */
export function checkDefaults(root: StructuralNode, path: FieldPath, requirePruned: boolean): FieldError[] {
  const checker = new DefaultChecker(requirePruned)
  const resource = root.asResourceRoot()
  checker.visit(resource, path, { resource, steps: [], insideMeta: false })
  return checker.errors
}

class DefaultChecker {
  readonly errors: FieldError[] = []
  readonly #requirePruned: boolean
  #budget = RULE_COST_BUDGET

  constructor(requirePruned: boolean) {
    this.#requirePruned = requirePruned
  }

  visit(node: StructuralNode, path: FieldPath, position: Position): void {
    const here: Position = node.embedded ? { resource: node, steps: [], insideMeta: false } : position
    if (node.default !== undefined) this.#checkDefault(node, path.child('default'), here)
    // Defaults of additionalProperties are not looked at: they are never applied without a value.
    if (node.items !== undefined) {
      this.visit(node.items, path.child('items'), { ...here, steps: [...here.steps, ITEM] })
    }
    for (const [name, property] of node.properties ?? []) {
      if (this.#budget < 0) return
      const isMeta = node.embedded && (name === 'metadata' || name === 'apiVersion' || name === 'kind')
      const steps = [...here.steps, name]
      const below: Position = { resource: here.resource, steps, insideMeta: here.insideMeta || isMeta }
      this.visit(property, path.child('properties').key(name), below)
    }
  }

  #checkDefault(node: StructuralNode, path: FieldPath, position: Position): void {
    const value = deepCopy(node.default)
    const found = position.insideMeta ? this.#inMetadata(value, path, position) : this.#onItsOwn(value, node, path)
    if (found.length > 0) {
      this.errors.push(...found)
      return
    }
    const accepts = new CheckCompiler('default').compile(node.json)
    if (!accepts(value)) {
      this.errors.push(...toFieldErrors(validateExactly(node.json, value, '', 'default').problems, path))
    } else {
      this.#runRules(node, value, path, position.resource === node)
    }
  }

  /** Defaults in metadata are checked by the metadata that they give a resource. */
  #inMetadata(value: unknown, path: FieldPath, position: Position): FieldError[] {
    const resource = surround(deepCopy(value), position.steps)
    const { error } = coerceMetadata(resource, position.resource, FieldPath.none, { dropInvalid: false })
    if (error !== undefined) return [invalid(path, value, `must result in valid metadata: ${error}`)]
    const errors: FieldError[] = []
    checkEmbedded(resource, position.resource, FieldPath.none, errors)
    if (errors.length === 0) return []
    return [invalid(path, value, `must result in valid metadata: ${aggregateText(errors)}`)]
  }

  #onItsOwn(value: unknown, node: StructuralNode, path: FieldPath): FieldError[] {
    if (this.#requirePruned) {
      const pruned = deepCopy(value)
      pruneFields(pruned, node)
      // The API server goes on to validate, but what it then finds is the same value.
      if (!deepEqual(pruned, value)) this.errors.push(invalid(path, value, 'must not have unknown fields'))
    }
    const { error } = coerceMetadata(value, node, path, { dropInvalid: false })
    if (error !== undefined) return [error]
    const errors: FieldError[] = []
    checkEmbedded(value, node, path, errors)
    return errors
  }

  #runRules(node: StructuralNode, value: unknown, path: FieldPath, isResourceRoot: boolean): void {
    const rules = RuleValidator.of(node, isResourceRoot)
    if (rules === null) return
    // As an update from itself, and for rules that can do without an old value also as a new one.
    const unchanged = rules.run(value, value, path, this.#budget)
    this.errors.push(...unchanged.errors)
    let remaining = unchanged.remaining
    if (unchanged.errors.length === 0) {
      const created = rules.run(value, undefined, path, this.#budget)
      this.errors.push(...created.errors)
      remaining = Math.min(remaining, created.remaining)
    }
    this.#budget = remaining
  }
}

/** A resource that has the value at the given place and otherwise only what every resource needs. */
function surround(value: unknown, steps: readonly Step[]): JsonObject {
  let inner = value
  for (let i = steps.length - 1; i >= 0; i--) {
    const step = steps[i]
    inner = step === ITEM ? [inner] : { [step as string]: inner }
  }
  return { kind: 'Validation', apiVersion: 'validation/v1', ...(inner as JsonObject) }
}
