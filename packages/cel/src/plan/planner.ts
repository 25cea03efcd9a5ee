import type { CheckedExpr, Reference } from '../check/checker.ts'
import { LIST_CREATE_COST, MAP_CREATE_COST, STRUCT_CREATE_COST } from '../define/cost-estimate.ts'
import type { Declarations } from '../define/declarations.ts'
import type { DeclaredType } from '../schema/declared-type.ts'
import {
  type CallExpr,
  type Expr,
  type IdentExpr,
  type ListExpr,
  type MapExpr,
  OPERATORS,
  type SelectExpr,
  type StructExpr,
} from '../syntax/ast.ts'
import { CelError, noSuchOverload } from '../values/cel-error.ts'
import { CelType } from '../values/cel-type.ts'
import { ArrayList, ValueMap } from '../values/collections.ts'
import { fromNative } from '../values/json-values.ts'
import { isPresent, qualifyOptional } from '../values/qualify.ts'
import { CelOptional, type CelValue } from '../values/values.ts'
import { constantPlan, type Frame, isAbsorbable, type Plan, type Run } from './frame.ts'
import {
  attribute,
  baseOf,
  charged,
  jsonOf,
  localReader,
  propertyReader,
  qualifyCharged,
  quickReader,
  refunded,
  typeIdentifier,
  variableValue,
} from './plan-attribute.ts'
import { planCall } from './plan-call.ts'
import { planComprehension } from './plan-comprehension.ts'

/** Reads the JSON of an expression that has a schema, without wrapping it as a CelValue. */
interface JsonPlan {
  readonly run: (frame: Frame) => unknown
  readonly cost: number
  readonly declared: DeclaredType
}

/** Compiles a checked expression into closures. Create one planner per expression. */
export class Planner {
  readonly env: Declarations
  readonly #checked: CheckedExpr
  /** The comprehension variables in scope, innermost last, with their slots. */
  readonly #locals: { readonly name: string; readonly slot: number }[] = []
  #slots = 0

  constructor(env: Declarations, checked: CheckedExpr) {
    this.env = env
    this.#checked = checked
  }

  typeOf(e: Expr): CelType {
    return this.#checked.types[e.id]!
  }

  reference(e: Expr): Reference | undefined {
    return this.#checked.references[e.id]
  }

  /** Brings a comprehension variable into scope and returns its slot. */
  enter(name: string): number {
    const slot = this.#slots++
    this.#locals.push({ name, slot })
    return slot
  }

  /** The number of slots for local variables. */
  get slots(): number {
    return this.#slots
  }

  leave(count: number): void {
    this.#locals.length -= count
  }

  slotOf(name: string): number | undefined {
    for (let i = this.#locals.length - 1; i >= 0; i--) {
      if (this.#locals[i]!.name === name) return this.#locals[i]!.slot
    }
    return undefined
  }

  /**
   * Compiles a node. `above` is the number of selections made from its value. Their cost is charged in advance; an
   * attribute that cannot be read refunds it.
   */
  plan(e: Expr, above = 0): Plan {
    switch (e.kind) {
      case 'literal':
        return constantPlan(e.value)
      case 'ident':
        return this.#ident(e.name, above)
      case 'select':
        return this.#select(e, above)
      case 'call':
        return this.#call(e, above)
      case 'list':
        return this.#list(e)
      case 'map':
        return this.#map(e)
      case 'struct':
        return this.#struct(e)
      case 'comprehension':
        return planComprehension(this, e)
    }
  }

  /** Compiles an identifier: a comprehension variable, a variable of the environment, or a type. */
  #ident(name: string, above: number): Plan {
    const slot = name.startsWith('.') ? undefined : this.slotOf(name)
    if (slot !== undefined) return attribute(localReader(slot), 1)
    const bare = name.startsWith('.') ? name.slice(1) : name
    const variable = this.env.variable(bare)
    if (variable === undefined) return constantPlan(typeIdentifier(this.env, bare))
    if (variable instanceof CelType) return attribute((f) => fromNative(variableValue(f, bare, above)), 1)
    if ('optional' in variable) {
      const { optional } = variable
      return attribute((f) => {
        const json = f.vars[bare]
        if (json === undefined || json instanceof CelOptional) return json ?? CelOptional.NONE
        return new CelOptional(optional.read(json))
      }, 1)
    }
    return attribute((f) => variable.read(variableValue(f, bare, above)), 1)
  }

  #select(e: SelectExpr, above: number): Plan {
    const reference = this.reference(e)
    if (reference?.kind === 'ident') return this.#ident(reference.name, above)
    return this.#schemaSelect(e, above) ?? this.#valueSelect(e, above)
  }

  #valueSelect(e: SelectExpr, above: number): Plan {
    const operand = this.plan(e.operand, above + 1)
    const { run } = operand
    const { field } = e
    if (e.testOnly) {
      return { run: (f) => isPresent(run(f), field), cost: baseOf(operand), attributeCost: 0 }
    }
    return attribute((f) => qualifyCharged(f, run(f), field, above), baseOf(operand) + 1)
  }

  /** Compiles a selection from data with a schema: it reads the JSON directly. */
  #schemaSelect(e: SelectExpr, above: number): Plan | undefined {
    const operand = this.#json(e.operand, above + 1)
    const field = operand?.declared.fields?.get(e.field)
    if (operand === undefined || field === undefined) return undefined
    const get = propertyReader(operand.run, field.jsonName)
    const read = quickReader(field.type)
    if (e.testOnly) {
      const run: Run = (f) => {
        const value = get(f)
        if (value === undefined || value === null) return false
        // Data of the wrong type is an error even in a presence test.
        read(value)
        return true
      }
      return { run, cost: operand.cost, attributeCost: 0 }
    }
    const name = e.field
    return attribute((f) => {
      const value = get(f)
      if (value === undefined || value === null) throw refunded(f, above, `no such key: ${name}`)
      return read(value)
    }, operand.cost + 1)
  }

  /** Returns a reader for the JSON of an expression, if the expression is an object with a schema. */
  #json(e: Expr, above: number): JsonPlan | undefined {
    const type = this.typeOf(e)
    const declared = type.kind === 'struct' ? this.env.struct(type.name) : undefined
    if (declared?.fields === undefined) return undefined
    if (e.kind === 'ident') return this.#jsonIdent(e, declared, above)
    if (e.kind !== 'select' || e.testOnly) return undefined
    const operand = this.#json(e.operand, above + 1)
    const field = operand?.declared.fields?.get(e.field)
    if (operand === undefined || field === undefined) return undefined
    const get = propertyReader(operand.run, field.jsonName)
    const name = e.field
    const run = (f: Frame): unknown => {
      const value = get(f)
      if (value === undefined || value === null) throw refunded(f, above, `no such key: ${name}`)
      return value
    }
    return { run, cost: operand.cost + 1, declared }
  }

  #jsonIdent(e: IdentExpr, declared: DeclaredType, above: number): JsonPlan | undefined {
    const slot = this.slotOf(e.name)
    if (slot !== undefined) {
      const read = localReader(slot)
      return { run: (f) => jsonOf(read(f)), cost: 1, declared }
    }
    const variable = this.env.variable(e.name)
    if (variable === undefined || variable instanceof CelType || 'optional' in variable) return undefined
    const { name } = e
    return { run: (f) => variableValue(f, name, above), cost: 1, declared }
  }

  /**
   * Compiles a call. Operators that do not evaluate all operands are compiled here, all other functions by planCall.
   */
  #call(e: CallExpr, above: number): Plan {
    switch (e.fn) {
      case OPERATORS.and:
        return this.#logical(e, false)
      case OPERATORS.or:
        return this.#logical(e, true)
      case OPERATORS.conditional:
        return this.#conditional(e)
      case OPERATORS.index:
        return this.#index(e, false, above)
      case OPERATORS.optIndex:
      case OPERATORS.optSelect:
        return this.#index(e, true, above)
      case 'or':
      case 'orValue':
        if (e.target !== undefined && e.args.length === 1)
          return this.#optionalOr(e.target, e.args[0]!, e.fn === 'orValue')
    }
    return planCall(this, e)
  }

  /** Compiles `&&` and `||`: an operand that decides the result overrides an error in the other. */
  #logical(e: CallExpr, decisive: boolean): Plan {
    const left = this.plan(e.args[0]!)
    const right = this.plan(e.args[1]!)
    const runLeft = left.run
    const runRight = right.run
    const rightCost = right.cost
    // The left operand failed: the right one must decide the result, else the error of the left one is thrown.
    const afterError = (f: Frame, error: CelError): boolean => {
      f.cost += rightCost
      let second: CelValue
      try {
        second = runRight(f)
      } catch (e) {
        if (isAbsorbable(e)) throw error
        throw e
      }
      if (second === decisive) return decisive
      throw error
    }
    const run = (f: Frame): boolean => {
      let first: CelValue
      try {
        first = runLeft(f)
      } catch (e) {
        if (isAbsorbable(e)) return afterError(f, e)
        throw e
      }
      if (first === decisive) return decisive
      if (typeof first !== 'boolean') return afterError(f, noSuchOverload())
      f.cost += rightCost
      const second = runRight(f)
      if (typeof second !== 'boolean') throw noSuchOverload()
      return second
    }
    return { run, cost: left.cost }
  }

  /** Compiles `?:`. Only the branch that is taken is charged, without the cost of reading it if it is an attribute. */
  #conditional(e: CallExpr): Plan {
    const condition = this.plan(e.args[0]!)
    const yes = this.plan(e.args[1]!)
    const no = this.plan(e.args[2]!)
    const runCondition = condition.run
    const yesCost = yes.cost - (yes.attributeCost ?? 0)
    const noCost = no.cost - (no.attributeCost ?? 0)
    const run: Run = (f) => {
      const choice = runCondition(f)
      if (choice === true) {
        f.cost += yesCost
        return yes.run(f)
      }
      if (choice !== false) throw noSuchOverload()
      f.cost += noCost
      return no.run(f)
    }
    return { run, cost: condition.cost, attributeCost: 0 }
  }

  #index(e: CallExpr, optional: boolean, above: number): Plan {
    const operand = this.plan(e.args[0]!, above + 1)
    const index = this.plan(e.args[1]!)
    const runOperand = operand.run
    const cost = baseOf(operand) + index.cost - (index.attributeCost ?? 0)
    if (optional) return attribute((f) => charged(f, qualifyOptional(runOperand(f), index.run(f))), cost)
    if (index.constant !== undefined) {
      const key = index.constant
      return attribute((f) => qualifyCharged(f, runOperand(f), key, above), cost + 1)
    }
    const runIndex = index.run
    return attribute((f) => qualifyCharged(f, runOperand(f), runIndex(f), above), cost + 1)
  }

  /** Compiles `or` and `orValue`: the alternative is evaluated, and charged, only if the optional is empty. */
  #optionalOr(target: Expr, alternative: Expr, unwrap: boolean): Plan {
    const first = this.plan(target)
    const second = this.plan(alternative)
    const run: Run = (f) => {
      const value = first.run(f)
      if (!(value instanceof CelOptional)) throw noSuchOverload()
      if (value.value !== undefined) return unwrap ? value.value : value
      f.cost += second.cost
      return second.run(f)
    }
    return { run, cost: first.cost }
  }

  #list(e: ListExpr): Plan {
    const elements = e.elements.map((x) => this.plan(x))
    const optional = new Set(e.optional)
    const build: Run = (f) => {
      const values: CelValue[] = []
      for (let i = 0; i < elements.length; i++) {
        let value = elements[i]!.run(f)
        if (optional.has(i)) {
          if (!(value instanceof CelOptional)) {
            throw new CelError(`cannot initialize optional list element from non-optional value ${value}`)
          }
          if (value.value === undefined) continue
          value = value.value
        }
        values.push(value)
      }
      return new ArrayList(values)
    }
    return this.#aggregate(elements, LIST_CREATE_COST, optional.size === 0, build)
  }

  #map(e: MapExpr): Plan {
    const keys = e.entries.map((entry) => this.plan(entry.key))
    const values = e.entries.map((entry) => this.plan(entry.value))
    const build: Run = (f) => {
      const pairs: [CelValue, CelValue][] = []
      for (let i = 0; i < keys.length; i++) {
        const key = keys[i]!.run(f)
        let value = values[i]!.run(f)
        if (e.entries[i]!.optional) {
          if (!(value instanceof CelOptional)) {
            throw new CelError(`cannot initialize optional entry '${key}' from non-optional value ${value}`)
          }
          if (value.value === undefined) continue
          value = value.value
        }
        pairs.push([key, value])
      }
      return ValueMap.of(pairs)
    }
    const hasOptional = e.entries.some((entry) => entry.optional)
    return this.#aggregate([...keys, ...values], MAP_CREATE_COST, !hasOptional, build)
  }

  /** Compiles a list or map literal. A literal of constants is built once and costs nothing. */
  #aggregate(parts: readonly Plan[], baseCost: number, foldable: boolean, build: Run): Plan {
    if (foldable && parts.every((p) => p.constant !== undefined)) return constantPlan(build(NO_FRAME))
    return { run: build, cost: parts.reduce((sum, p) => sum + p.cost, baseCost) }
  }

  #struct(e: StructExpr): Plan {
    const { name } = this.typeOf(e)
    const construct = this.env.typeDeclaration(name)?.construct
    const values = e.fields.map((field) => this.plan(field.value))
    const run: Run = (f) => {
      if (construct === undefined) throw new CelError(`unknown type '${name}'`)
      const fields = new Map<string, CelValue>()
      e.fields.forEach((field, i) => {
        const value = values[i]!.run(f)
        if (!field.optional) fields.set(field.name, value)
        else if (!(value instanceof CelOptional)) {
          throw new CelError(`cannot initialize optional entry '${field.name}' from non-optional value ${value}`)
        } else if (value.value !== undefined) fields.set(field.name, value.value)
      })
      return construct(fields)
    }
    return { run, cost: values.reduce((sum, p) => sum + p.cost, STRUCT_CREATE_COST) }
  }
}

/** Constants are evaluated without a frame: constant plans never use it. */
const NO_FRAME = undefined as unknown as Frame
