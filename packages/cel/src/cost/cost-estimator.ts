import type { CheckedExpr } from '../check/checker.ts'
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
} from '../define/cost-estimate.ts'
import type { Declarations } from '../define/declarations.ts'
import {
  ACCUMULATOR,
  type CallExpr,
  type ComprehensionExpr,
  type Expr,
  type ListExpr,
  type MapExpr,
  type SelectExpr,
} from '../syntax/ast.ts'
import { type CelType, sameType } from '../values/cel-type.ts'
import { declaredSizes, type SizeEstimator } from './declared-sizes.ts'
import { isScalar, literalSize } from './literal-size.ts'
import { standardCallEstimate } from './standard-call-estimate.ts'

/** Returns the bounds of the cost of an expression. The numbers are those of cel-go with Kubernetes' options. */
export function estimateExpressionCost(env: Declarations, checked: CheckedExpr, sizes?: SizeEstimator): CostEstimate {
  return new CostEstimator(env, checked, sizes ?? declaredSizes(env)).estimate(checked.expr, undefined).cost
}

/** The sizes of the elements of a list, or of the keys and values of a map. */
interface EntrySizes {
  readonly container: 'list' | 'map'
  readonly key: SizeEstimate
  readonly value: SizeEstimate
}

/** Facts about a value. */
interface ValueFacts {
  /** The location of the value in the declared data; empty for a computed value. */
  readonly path: readonly string[]
  readonly size: SizeEstimate | undefined
  readonly entries: EntrySizes | undefined
}

/** The cost of an expression and the facts about its value. */
interface Estimate extends ValueFacts {
  readonly cost: CostEstimate
}

/** A comprehension variable in scope, and the variables around it. Inner variables shadow outer ones. */
interface Scope {
  readonly name: string
  readonly value: ValueFacts
  readonly outer: Scope | undefined
}

type Rules = {
  readonly [K in Expr['kind']]: (e: Extract<Expr, { kind: K }>, scope: Scope | undefined) => Estimate
}

const ONE: CostEstimate = exactly(1)
const ZERO: CostEstimate = exactly(0)
/** The neutral element of the union of ranges. */
const NOTHING: CostEstimate = { min: MAX_COST, max: 0 }

/** Computes estimates bottom-up: the estimate of an expression depends on those of its parts and on the variables in scope. */
class CostEstimator {
  readonly #env: Declarations
  readonly #checked: CheckedExpr
  readonly #sizes: SizeEstimator

  constructor(env: Declarations, checked: CheckedExpr, sizes: SizeEstimator) {
    this.#env = env
    this.#checked = checked
    this.#sizes = sizes
  }

  estimate(e: Expr, scope: Scope | undefined): Estimate {
    // The rule of a kind accepts the expressions of that kind.
    const rule = this.#rules[e.kind] as (e: Expr, scope: Scope | undefined) => Estimate
    return rule(e, scope)
  }

  readonly #rules: Rules = {
    literal: (e) => this.#computed(e, ZERO),
    ident: (e, scope) => {
      const local = lookup(scope, e.name)
      const named = this.#located(e, ONE, local === undefined ? [e.name] : local.path)
      return { ...named, size: named.size ?? local?.size, entries: local?.entries }
    },
    select: (e, scope) => this.#select(e, scope),
    call: (e, scope) => (e.fn === 'dyn' ? this.#dyn(e, scope) : this.#call(e, scope)),
    list: (e, scope) => this.#list(e, scope),
    map: (e, scope) => this.#map(e, scope),
    struct: (e, scope) => {
      const fields = e.fields.map(({ value }) => this.estimate(value, scope))
      return this.#computed(e, sumOf(exactly(STRUCT_CREATE_COST), fields))
    },
    comprehension: (e, scope) => (isBinding(e) ? this.#binding(e, scope) : this.#comprehension(e, scope)),
  }

  #type(e: Expr): CelType {
    return this.#checked.types[e.id]!
  }

  /** The estimate of a value in the declared data, whose declaration determines its size. */
  #located(e: Expr, cost: CostEstimate, path: readonly string[]): Estimate {
    const size = this.#declaredSize(path) ?? (isScalar(this.#type(e)) ? ONE : undefined)
    return { cost, path, size, entries: undefined }
  }

  /** The estimate of a computed value. Without a known size, literals and scalars have one by themselves. */
  #computed(e: Expr, cost: CostEstimate, size?: SizeEstimate, entries?: EntrySizes): Estimate {
    return { cost, path: [], size: size ?? literalSize(e) ?? (isScalar(this.#type(e)) ? ONE : undefined), entries }
  }

  #declaredSize(path: readonly string[] | undefined): SizeEstimate | undefined {
    return path === undefined || path.length === 0 ? undefined : this.#sizes(path)
  }

  #select(e: SelectExpr, scope: Scope | undefined): Estimate {
    const reference = this.#checked.references[e.id]
    if (reference?.kind === 'ident') {
      return this.#located(e, ONE, lookup(scope, reference.name)?.path ?? [reference.name])
    }
    const operand = this.estimate(e.operand, scope)
    // In Kubernetes, has() itself is free.
    if (e.testOnly) return this.#computed(e, operand.cost)
    const { kind } = this.#type(e.operand)
    const isCharged = kind === 'map' || kind === 'struct' || kind === 'typeParam'
    return this.#located(e, isCharged ? addRanges(operand.cost, ONE) : operand.cost, [...operand.path, e.field])
  }

  /** dyn() only changes the type, so it passes on the sizes of its argument. */
  #dyn(e: CallExpr, scope: Scope | undefined): Estimate {
    const { cost, size, entries } = this.estimate(e.args[0]!, scope)
    return this.#computed(e, addRanges(ONE, cost), size, entries)
  }

  /** The cost covers all overloads that may be called at run time. */
  #call(e: CallExpr, scope: Scope | undefined): Estimate {
    const reference = this.#checked.references[e.id]
    if (reference?.kind !== 'call' || reference.overloads.length === 0) return this.#computed(e, ZERO)
    const args = e.args.map((arg) => this.estimate(arg, scope))
    const isMember = e.target !== undefined && !reference.namespaced
    const target = isMember ? this.estimate(e.target, scope) : undefined
    let cost = NOTHING
    let size: SizeEstimate | undefined
    let path: readonly string[] = []
    let entries: EntrySizes | undefined
    for (const overload of reference.overloads) {
      const call = this.#overload(e, reference.fn, overload, target, args)
      cost = unionRanges(cost, call.cost)
      entries = call.entries ?? entries
      size = call.resultSize === undefined ? size : unionRanges(size ?? call.resultSize, call.resultSize)
      if (overload === 'index_list' || overload === 'index_map') {
        size = args[0]!.entries?.value
        path = [...args[0]!.path, overload === 'index_list' ? '@items' : '@values']
      }
      size ??= this.#located(e, ZERO, path).size
    }
    return { cost: addRanges(target?.cost ?? ZERO, cost), path, size, entries }
  }

  /** The estimate of one overload with its arguments, but without the receiver. */
  #overload(
    e: CallExpr,
    fn: string,
    overloadId: string,
    target: Estimate | undefined,
    args: readonly Estimate[],
  ): CallEstimate & { readonly entries?: EntrySizes | undefined } {
    const declared = this.#env.function(fn)!
    const overload = declared.overloads.find(({ id }) => id === overloadId)
    const context: CallCostContext = {
      fn,
      overloadId,
      target: target && this.#node(e.target!, target),
      args: e.args.map((arg, i) => this.#node(arg, args[i]!)),
      sizeOf: (node) => node.computedSize ?? this.#declaredSize(node.path) ?? UNKNOWN_SIZE,
      elementOf,
    }
    const custom =
      overload?.cost?.estimate?.(context) ?? declared.cost?.estimate?.(context) ?? this.#equalityEstimate(context)
    if (custom !== undefined) return { ...custom, cost: sumOf(custom.cost, args) }
    const { elementsOf, ...standard } = standardCallEstimate(overloadId, target, args)
    const entries = elementsOf && unionEntries(args[elementsOf[0]]?.entries, args[elementsOf[1]]?.entries)
    return { ...standard, entries }
  }

  /** Returns the declared cost of comparing two values of an extension type. */
  #equalityEstimate(context: CallCostContext): CallEstimate | undefined {
    const [left, right] = context.args
    if (context.fn !== '_==_' || left === undefined || right === undefined || !sameType(left.type, right.type))
      return undefined
    const cost = this.#env.typeDeclaration(left.type.name)?.equalityCost?.(left, right)
    return cost === undefined ? undefined : { cost }
  }

  #node(e: Expr, { path, size }: ValueFacts): CostNode {
    return {
      // Only values that are reachable from a variable have a path.
      path: path.length === 0 || path[0] === ACCUMULATOR ? undefined : path,
      type: this.#type(e),
      literal: e.kind === 'literal' ? e.value : undefined,
      computedSize: size,
    }
  }

  #list(e: ListExpr, scope: Scope | undefined): Estimate {
    const elements = e.elements.map((element) => this.estimate(element, scope))
    const entries: EntrySizes = { container: 'list', key: ONE, value: unionOfSizes(elements) }
    return this.#computed(e, sumOf(exactly(LIST_CREATE_COST), elements), undefined, entries)
  }

  #map(e: MapExpr, scope: Scope | undefined): Estimate {
    const keys = e.entries.map(({ key }) => this.estimate(key, scope))
    const values = e.entries.map(({ value }) => this.estimate(value, scope))
    const entries: EntrySizes = { container: 'map', key: unionOfSizes(keys), value: unionOfSizes(values) }
    return this.#computed(e, sumOf(exactly(MAP_CREATE_COST), [...keys, ...values]), undefined, entries)
  }

  /** The cost of a fold: range, initial value and result once, condition and step once per element of the range. */
  #comprehension(e: ComprehensionExpr, scope: Scope | undefined): Estimate {
    const range = this.estimate(e.range, scope)
    const init = this.estimate(e.accuInit, scope)
    const withAccu: Scope = { name: e.accuVar, value: init, outer: scope }
    const inside = iterationScope(e, range, this.#type(e.range), withAccu)
    const condition = this.estimate(e.condition, inside)
    const step = this.estimate(e.step, inside)
    const result = this.estimate(e.result, withAccu)
    const count = range.size ?? UNKNOWN_SIZE
    const loop = multiplyRanges(count, addRanges(step.cost, condition.cost))
    const cost = sumOf(loop, [range, init, result])
    switch (e.accuInit.kind) {
      case 'literal':
        return this.#computed(e, cost, init.size)
      case 'list':
      case 'map':
        return this.#computed(e, cost, count, step.entries)
      default:
        return this.#computed(e, cost)
    }
  }

  /** The cost of a variable binding (`cel.bind`, `sortBy`): the step of this fold over an empty list never runs. */
  #binding(e: ComprehensionExpr, scope: Scope | undefined): Estimate {
    const range = this.estimate(e.range, scope)
    const init = this.estimate(e.accuInit, scope)
    const result = this.estimate(e.result, { name: e.accuVar, value: init, outer: scope })
    const { size, entries } = this.#outside(e.result, result, scope)
    return this.#computed(e, sumOf(ZERO, [range, init, result]), size, entries)
  }

  /** The facts about the result of a binding, seen from outside: a bare variable keeps its location only, as in cel-go. */
  #outside(e: Expr, inside: Estimate, scope: Scope | undefined): ValueFacts {
    if (e.kind !== 'ident') return inside
    return lookup(scope, e.name) === undefined ? this.#located(e, ZERO, inside.path) : this.estimate(e, scope)
  }
}

function lookup(scope: Scope | undefined, name: string): ValueFacts | undefined {
  for (let at = scope; at !== undefined; at = at.outer) if (at.name === name) return at.value
  return undefined
}

/** The scope with the iteration variables. Over a list with two variables, the first one is the index. */
function iterationScope(e: ComprehensionExpr, { path, entries }: ValueFacts, type: CelType, outer: Scope): Scope {
  const isList = (entries?.container ?? type.kind) === 'list'
  const variable = (name: string, step: string, size: SizeEstimate | undefined, around: Scope): Scope => ({
    name,
    value: { path: [...path, step], size, entries: undefined },
    outer: around,
  })
  const valueStep = isList ? '@items' : '@values'
  if (e.iterVar2 !== undefined) {
    const first = variable(e.iterVar, isList ? '@indices' : '@keys', entries?.key, outer)
    return variable(e.iterVar2, valueStep, entries?.value, first)
  }
  return isList
    ? variable(e.iterVar, valueStep, entries?.value, outer)
    : variable(e.iterVar, '@keys', entries?.key, outer)
}

function sumOf(own: CostEstimate, parts: readonly Estimate[]): CostEstimate {
  return parts.reduce((sum, { cost }) => addRanges(sum, cost), own)
}

function unionOfSizes(values: readonly ValueFacts[]): SizeEstimate {
  if (values.length === 0) return ZERO
  return values.reduce((union, { size }) => unionRanges(union, size ?? UNKNOWN_SIZE), NOTHING)
}

function unionEntries(a: EntrySizes | undefined, b: EntrySizes | undefined): EntrySizes | undefined {
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
