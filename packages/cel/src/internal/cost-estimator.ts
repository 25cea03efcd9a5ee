import {
  ACCUMULATOR,
  type CallExpr,
  type ComprehensionExpr,
  type Expr,
  type ListExpr,
  type MapExpr,
  type SelectExpr,
  type StructExpr,
} from '../ast.ts'
import { type CelType, sameType } from '../cel-type.ts'
import {
  addRanges,
  type CallCostContext,
  type CallEstimate,
  type CostEstimate,
  type CostNode,
  exactly,
  LIST_CREATE_COST,
  MAP_CREATE_COST,
  MAX_COST,
  multiplyRanges,
  type SizeEstimate,
  STRUCT_CREATE_COST,
  UNKNOWN_SIZE,
  unionRanges,
} from '../cost-estimate.ts'
import type { CelEnvironment } from '../environment.ts'
import type { CheckedExpr } from './checker.ts'
import { declaredSizes, type SizeEstimator } from './declared-sizes.ts'
import { isScalar, literalSize } from './literal-size.ts'
import { standardCallEstimate } from './standard-call-estimate.ts'

/** Returns the bounds of the cost of an expression, as in checker/cost.go with Kubernetes' options. */
export function estimateExpressionCost(env: CelEnvironment, checked: CheckedExpr, sizes?: SizeEstimator): CostEstimate {
  return new CostEstimator(env, checked, sizes ?? declaredSizes(env)).cost(checked.expr)
}

/** The sizes of the elements of a list, or of the keys and values of a map. */
interface EntrySize {
  readonly container: 'list' | 'map'
  readonly key: SizeEstimate
  readonly value: SizeEstimate
}

/** The facts about a comprehension variable. */
interface LocalVariable {
  readonly path: readonly string[] | undefined
  readonly size: SizeEstimate | undefined
  readonly entrySize: EntrySize | undefined
}

const ONE: CostEstimate = exactly(1)
const ZERO: CostEstimate = exactly(0)

/**
 * Computes bounds bottom-up in one pass over the checked expression. Besides the cost, it records facts about each node
 * by id, which enclosing nodes need: the location in the declared data (`#paths`), the size of the value (`#computed`)
 * and the sizes of its elements (`#entries`). Operands are therefore always visited before the node that uses them.
 */
class CostEstimator {
  readonly #env: CelEnvironment
  readonly #checked: CheckedExpr
  readonly #sizes: SizeEstimator
  readonly #paths = new Map<number, readonly string[]>()
  readonly #computed = new Map<number, SizeEstimate>()
  readonly #entries = new Map<number, EntrySize>()
  /** The comprehension variables in scope, as one stack per name: inner variables shadow outer ones. */
  readonly #locals = new Map<string, LocalVariable[]>()

  constructor(env: CelEnvironment, checked: CheckedExpr, sizes: SizeEstimator) {
    this.#env = env
    this.#checked = checked
    this.#sizes = sizes
  }

  cost(e: Expr): CostEstimate {
    switch (e.kind) {
      case 'literal':
        return ZERO
      case 'ident':
        return this.#ident(e.id, e.name)
      case 'select':
        return this.#select(e)
      case 'call':
        return this.#call(e)
      case 'list':
        return this.#list(e)
      case 'map':
        return this.#map(e)
      case 'struct':
        return this.#struct(e)
      case 'comprehension':
        return isBinding(e) ? this.#binding(e) : this.#comprehension(e)
    }
  }

  #type(e: Expr): CelType {
    return this.#checked.types[e.id]!
  }

  #local(name: string): LocalVariable | undefined {
    return this.#locals.get(name)?.at(-1)
  }

  #push(name: string, variable: LocalVariable): void {
    const stack = this.#locals.get(name)
    if (stack === undefined) this.#locals.set(name, [variable])
    else stack.push(variable)
  }

  #pop(name: string): void {
    this.#locals.get(name)!.pop()
  }

  /** Returns the location of a value in the declared data; empty for computed values. */
  #pathOf(e: Expr): readonly string[] {
    if (e.kind === 'ident') {
      const local = this.#local(e.name)
      if (local !== undefined) return local.path ?? []
    }
    return this.#paths.get(e.id) ?? []
  }

  #ident(id: number, name: string): CostEstimate {
    const local = this.#local(name)
    this.#paths.set(id, local === undefined ? [name] : (local.path ?? []))
    return ONE
  }

  #select(e: SelectExpr): CostEstimate {
    const reference = this.#checked.references[e.id]
    if (reference?.kind === 'ident') return this.#ident(e.id, reference.name)
    const operand = this.cost(e.operand)
    // In Kubernetes, has() itself is free.
    if (e.testOnly) return operand
    this.#paths.set(e.id, [...this.#pathOf(e.operand), e.field])
    const { kind } = this.#type(e.operand)
    return kind === 'map' || kind === 'struct' || kind === 'typeParam' ? addRanges(operand, ONE) : operand
  }

  #call(e: CallExpr): CostEstimate {
    // dyn() only changes the type, so it passes on the sizes of its argument.
    if (e.fn === 'dyn') {
      const arg = e.args[0]!
      const cost = this.cost(arg)
      this.#copySizes(e, arg)
      return addRanges(ONE, cost)
    }
    const reference = this.#checked.references[e.id]
    const argCosts = e.args.map((a) => this.cost(a))
    const args = e.args.map((a) => this.#node(a))
    if (reference?.kind !== 'call' || reference.overloads.length === 0) return ZERO
    let sum = ZERO
    let target: CostNode | undefined
    if (e.target !== undefined && !reference.namespaced) {
      sum = this.cost(e.target)
      target = this.#node(e.target)
    }
    // The neutral element of the union: any of the overloads may be called at run time.
    let total: CostEstimate = { min: MAX_COST, max: 0 }
    let resultSize: SizeEstimate | undefined
    for (const overload of reference.overloads) {
      const estimate = this.#overload(e, reference.fn, overload, target, args, argCosts)
      total = unionRanges(total, estimate.cost)
      if (estimate.resultSize !== undefined) {
        resultSize = resultSize === undefined ? estimate.resultSize : unionRanges(resultSize, estimate.resultSize)
      }
      if (overload === 'index_list' || overload === 'index_map') {
        const container = e.args[0]!
        resultSize = this.#entrySize(container)?.value
        this.#paths.set(e.id, [...this.#pathOf(container), overload === 'index_list' ? '@items' : '@values'])
      }
      resultSize ??= this.#size(e)
    }
    if (resultSize !== undefined) this.#computed.set(e.id, resultSize)
    return addRanges(sum, total)
  }

  #overload(
    e: CallExpr,
    fn: string,
    overloadId: string,
    target: CostNode | undefined,
    args: readonly CostNode[],
    argCosts: readonly CostEstimate[],
  ): CallEstimate {
    const declared = this.#env.function(fn)!
    const overload = declared.overloads.find((o) => o.id === overloadId)
    const context: CallCostContext = {
      fn,
      overloadId,
      target,
      args,
      sizeOf: (node) => node.computedSize ?? this.#declaredSize(node.path) ?? UNKNOWN_SIZE,
      elementOf,
    }
    const custom =
      overload?.cost?.estimate?.(context) ?? declared.cost?.estimate?.(context) ?? this.#equalityEstimate(context)
    if (custom !== undefined) {
      return { ...custom, cost: argCosts.reduce(addRanges, custom.cost) }
    }
    return standardCallEstimate(overloadId, context.target, args, argCosts, {
      setEntrySize: (first, second) => {
        const union = unionEntries(e.args[first], e.args[second], (x) =>
          x === undefined ? undefined : this.#entrySize(x),
        )
        if (union !== undefined) this.#entries.set(e.id, union)
      },
    })
  }

  /** Returns the declared cost of comparing two values of an extension type. */
  #equalityEstimate(context: CallCostContext): CallEstimate | undefined {
    const [left, right] = context.args
    if (context.fn !== '_==_' || left === undefined || right === undefined || !sameType(left.type, right.type))
      return undefined
    const cost = this.#env.typeDeclaration(left.type.name)?.equalityCost?.(left, right)
    return cost === undefined ? undefined : { cost }
  }

  #declaredSize(path: readonly string[] | undefined): SizeEstimate | undefined {
    return path === undefined || path.length === 0 ? undefined : this.#sizes(path)
  }

  #node(e: Expr): CostNode {
    const path = this.#pathOf(e)
    return {
      // Only values that are reachable from a variable have a path.
      path: path.length === 0 || path[0] === ACCUMULATOR ? undefined : path,
      type: this.#type(e),
      literal: e.kind === 'literal' ? e.value : undefined,
      computedSize: this.#size(e),
    }
  }

  /**
   * Returns the size of a value, from the most to the least specific source: computed, literal, declared, scalar,
   * local.
   */
  #size(e: Expr): SizeEstimate | undefined {
    const known = this.#computed.get(e.id) ?? literalSize(e)
    if (known !== undefined) return known
    const declared = this.#declaredSize(this.#pathOf(e))
    if (declared !== undefined) {
      this.#computed.set(e.id, declared)
      return declared
    }
    if (isScalar(this.#type(e))) return exactly(1)
    return e.kind === 'ident' ? this.#local(e.name)?.size : undefined
  }

  #sizeOrUnknown(e: Expr): SizeEstimate {
    return this.#size(e) ?? UNKNOWN_SIZE
  }

  #entrySize(e: Expr): EntrySize | undefined {
    const known = this.#entries.get(e.id)
    if (known !== undefined) return known
    return e.kind === 'ident' ? this.#local(e.name)?.entrySize : undefined
  }

  #copySizes(to: Expr, from: Expr): void {
    const size = this.#size(from)
    if (size !== undefined) this.#computed.set(to.id, size)
    const entries = this.#entrySize(from)
    if (entries !== undefined) this.#entries.set(to.id, entries)
  }

  /** The element sizes of a list literal are the union over its elements. */
  #list(e: ListExpr): CostEstimate {
    let sum = ZERO
    let value: SizeEstimate = { min: e.elements.length === 0 ? 0 : MAX_COST, max: 0 }
    for (const element of e.elements) {
      sum = addRanges(sum, this.cost(element))
      value = unionRanges(value, this.#sizeOrUnknown(element))
    }
    this.#entries.set(e.id, { container: 'list', key: exactly(1), value })
    return addRanges(sum, exactly(LIST_CREATE_COST))
  }

  #map(e: MapExpr): CostEstimate {
    let sum = ZERO
    let key: SizeEstimate = { min: e.entries.length === 0 ? 0 : MAX_COST, max: 0 }
    let value = key
    for (const entry of e.entries) {
      sum = addRanges(addRanges(sum, this.cost(entry.key)), this.cost(entry.value))
      key = unionRanges(key, this.#sizeOrUnknown(entry.key))
      value = unionRanges(value, this.#sizeOrUnknown(entry.value))
    }
    this.#entries.set(e.id, { container: 'map', key, value })
    return addRanges(sum, exactly(MAP_CREATE_COST))
  }

  #struct(e: StructExpr): CostEstimate {
    return e.fields.reduce((sum, f) => addRanges(sum, this.cost(f.value)), exactly(STRUCT_CREATE_COST))
  }

  /** The cost of a fold: range, initial value and result once, condition and step once per element of the range. */
  #comprehension(e: ComprehensionExpr): CostEstimate {
    let sum = addRanges(this.cost(e.range), this.cost(e.accuInit))
    this.#push(e.accuVar, this.#asLocal(e.accuInit))
    this.#pushIteration(e)
    const condition = this.cost(e.condition)
    const step = this.cost(e.step)
    this.#pop(e.iterVar)
    if (e.iterVar2 !== undefined) this.#pop(e.iterVar2)
    sum = addRanges(sum, this.cost(e.result))
    this.#pop(e.accuVar)
    const count = this.#sizeOrUnknown(e.range)
    sum = addRanges(sum, multiplyRanges(count, addRanges(step, condition)))
    if (e.accuInit.kind === 'literal') {
      const size = this.#size(e.accuInit)
      if (size !== undefined) this.#computed.set(e.id, size)
    } else if (e.accuInit.kind === 'list' || e.accuInit.kind === 'map') {
      this.#computed.set(e.id, count)
      const entries = this.#entrySize(e.step)
      if (entries !== undefined) this.#entries.set(e.id, entries)
    }
    return sum
  }

  #asLocal(e: Expr): LocalVariable {
    return { path: this.#pathOf(e), size: this.#size(e), entrySize: this.#entrySize(e) }
  }

  /** Brings the iteration variables into scope. Over a list with two variables, the first one is the index. */
  #pushIteration(e: ComprehensionExpr): void {
    const entries = this.#entrySize(e.range)
    const isList = (entries?.container ?? this.#type(e.range).kind) === 'list'
    const path = this.#pathOf(e.range)
    const local = (step: string, size: SizeEstimate | undefined): LocalVariable => ({
      path: [...path, step],
      size,
      entrySize: undefined,
    })
    const values = local(isList ? '@items' : '@values', entries?.value)
    if (e.iterVar2 === undefined) {
      this.#push(e.iterVar, isList ? values : local('@keys', entries?.key))
    } else {
      this.#push(e.iterVar, local(isList ? '@indices' : '@keys', entries?.key))
      this.#push(e.iterVar2, values)
    }
  }

  /** The cost of a variable binding (`cel.bind`, `sortBy`): the step of this fold over an empty list never runs. */
  #binding(e: ComprehensionExpr): CostEstimate {
    let sum = addRanges(this.cost(e.range), this.cost(e.accuInit))
    this.#push(e.accuVar, this.#asLocal(e.accuInit))
    sum = addRanges(sum, this.cost(e.result))
    this.#pop(e.accuVar)
    this.#copySizes(e, e.result)
    return sum
  }
}

function unionEntries(
  first: Expr | undefined,
  second: Expr | undefined,
  entriesOf: (e: Expr | undefined) => EntrySize | undefined,
): EntrySize | undefined {
  const a = entriesOf(first)
  const b = entriesOf(second)
  if (a === undefined || b === undefined) return undefined
  return { container: a.container, key: unionRanges(a.key, b.key), value: unionRanges(a.value, b.value) }
}

/** Returns the elements of a list as one operand. */
function elementOf(node: CostNode): CostNode | undefined {
  const type = node.type.params[0]
  if (type === undefined) return undefined
  const path = node.path === undefined ? undefined : [...node.path, '@items']
  return { path, type, literal: undefined, computedSize: undefined }
}

/** Reports whether a fold only binds a variable: its range is empty and its condition is false. */
function isBinding(e: ComprehensionExpr): boolean {
  return (
    e.range.kind === 'list' &&
    e.range.elements.length === 0 &&
    e.condition.kind === 'literal' &&
    e.condition.value === false &&
    e.accuVar !== ACCUMULATOR
  )
}
