import { append, deepCopy, deepEqual } from '@kubewright/base'
import { aggregateText, type FieldError, invalid } from '../field/field-error.ts'
import { FieldPath } from '../field/field-path.ts'
import type { JsonObject, StructuralNode } from '../model/structural-node.ts'
import { checkEmbedded, coerceMetadata } from '../validate/embedded-resources.ts'
import { validateExactly } from '../validate/exact-validate.ts'
import { CheckCompiler } from '../validate/fast-check.ts'
import { toFieldErrors } from '../validate/problem.ts'
import { pruneFields } from '../validate/prune-fields.ts'
import { RULE_COST_BUDGET, RuleValidator } from '../validate/rule-validator.ts'

/** A field name, or ITEM for the items of a list. */
type Step = string | typeof ITEM
const ITEM: unique symbol = Symbol('item')

/** The position of a default in the resource that contains it. */
interface Position {
  readonly resource: StructuralNode
  readonly steps: readonly Step[]
  /** Whether the default is inside the type or object metadata of the resource. */
  readonly insideMeta: boolean
}

/**
 * Checks that each default is valid at its position and would not be pruned.
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
    // Defaults in additionalProperties are not checked: they apply only to existing keys.
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
    const found = position.insideMeta
      ? this.#inMetadata(value, path, position)
      : this.#outsideMetadata(value, node, path)
    if (found.length > 0) {
      append(this.errors, found)
      return
    }
    const accepts = new CheckCompiler('default').compile(node.json)
    if (!accepts(value)) {
      append(this.errors, toFieldErrors(validateExactly(node.json, value, '', 'default').problems, path))
    } else {
      this.#runRules(node, value, path, position.resource === node)
    }
  }

  /** Checks a default in metadata through the metadata of a resource that contains it. */
  #inMetadata(value: unknown, path: FieldPath, position: Position): FieldError[] {
    const resource = surround(deepCopy(value), position.steps)
    const { error } = coerceMetadata(resource, position.resource, FieldPath.none, { dropInvalid: false })
    if (error !== undefined) return [invalid(path, value, `must result in valid metadata: ${error}`)]
    const errors: FieldError[] = []
    checkEmbedded(resource, position.resource, FieldPath.none, errors)
    if (errors.length === 0) return []
    return [invalid(path, value, `must result in valid metadata: ${aggregateText(errors)}`)]
  }

  #outsideMetadata(value: unknown, node: StructuralNode, path: FieldPath): FieldError[] {
    if (this.#requirePruned) {
      const pruned = deepCopy(value)
      pruneFields(pruned, node)
      // The API server continues with the unpruned value, so the remaining checks use it too.
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
    // Runs the rules as for an unchanged update and then, for rules that do not need an old value, as for a creation.
    const unchanged = rules.run(value, value, path, this.#budget)
    append(this.errors, unchanged.errors)
    let remaining = unchanged.remaining
    if (unchanged.errors.length === 0) {
      const created = rules.run(value, undefined, path, this.#budget)
      append(this.errors, created.errors)
      remaining = Math.min(remaining, created.remaining)
    }
    this.#budget = remaining
  }
}

/** Returns a minimal resource with the value at the given position. */
function surround(value: unknown, steps: readonly Step[]): JsonObject {
  let inner = value
  for (let i = steps.length - 1; i >= 0; i--) {
    const step = steps[i]
    inner = step === ITEM ? [inner] : { [step as string]: inner }
  }
  return { kind: 'Validation', apiVersion: 'validation/v1', ...(inner as JsonObject) }
}
