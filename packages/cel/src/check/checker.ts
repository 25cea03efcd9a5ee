import type { Declarations } from '../define/declarations.ts'
import type { CelFunction } from '../define/library.ts'
import {
  type CallExpr,
  type ComprehensionExpr,
  type Expr,
  type ListExpr,
  type MapExpr,
  OPERATORS,
  qualifiedName,
  type SelectExpr,
  type StructExpr,
} from '../syntax/ast.ts'
import type { ParsedExpr } from '../syntax/parser.ts'
import { compileError, type SourceIssue } from '../syntax/source.ts'
import {
  BOOL,
  BYTES,
  CelType,
  DOUBLE,
  DYN,
  ERROR,
  INT,
  isOptionalType,
  listType,
  mapType,
  NULL,
  optionalType,
  STRING,
  sameType,
  UINT,
} from '../values/cel-type.ts'
import { typeOf } from '../values/values.ts'
import { mostGeneral, TypeUnifier } from './type-unifier.ts'

/** The declaration that a name or call resolved to. */
export type Reference =
  | { readonly kind: 'ident'; readonly name: string }
  | { readonly kind: 'call'; readonly fn: string; readonly overloads: readonly string[]; readonly namespaced: boolean }

/** A type-checked expression. */
export interface CheckedExpr extends ParsedExpr {
  /** The type of each node, by id. */
  readonly types: readonly CelType[]
  /** The meaning of identifiers, qualified names and calls, by node id. */
  readonly references: readonly (Reference | undefined)[]
  readonly outputType: CelType
}

/** Type-checks a parsed expression. Throws a CelCompileError with all errors found. */
export function check(parsed: ParsedExpr, scope: Declarations): CheckedExpr {
  const checker = new Checker(parsed, scope)
  checker.check(parsed.expr)
  if (checker.issues.length > 0) throw compileError(parsed.source, checker.issues)
  const types = checker.finalTypes()
  return { ...parsed, types, references: checker.references, outputType: types[parsed.expr.id]! }
}

/**
 * Assigns a type to every node and a reference to every name and call. Types may contain type variables until
 * `finalTypes` replaces them. After an error, a node has the type ERROR, which unifies with every type, so that one
 * mistake causes one message. Errors are reported in the order of cel-go, which compileError then sorts by position.
 */
class Checker {
  readonly issues: SourceIssue[] = []
  readonly references: (Reference | undefined)[] = []
  readonly #types: CelType[] = []
  readonly #unifier = new TypeUnifier()
  readonly #parsed: ParsedExpr
  readonly #scope: Declarations
  /** Comprehension variables, innermost last. */
  readonly #locals: [string, CelType][] = []

  constructor(parsed: ParsedExpr, scope: Declarations) {
    this.#parsed = parsed
    this.#scope = scope
  }

  finalTypes(): CelType[] {
    return this.#types.map((t) => this.#unifier.substitute(t, true))
  }

  check(e: Expr): CelType {
    const type = this.#typeOf(e)
    this.#types[e.id] = type
    return type
  }

  #report(id: number, message: string): void {
    this.issues.push({ offset: this.#parsed.builder.offsetOf(id), message })
  }

  #typeOf(e: Expr): CelType {
    switch (e.kind) {
      case 'literal':
        return LITERAL_TYPES.get(typeOf(e.value)) ?? DYN
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
        return this.#comprehension(e)
    }
  }

  /** Returns the type of a name: comprehension variables first, innermost scope first, then the environment. */
  #lookup(name: string): CelType | undefined {
    if (!name.startsWith('.')) {
      for (let i = this.#locals.length - 1; i >= 0; i--) {
        if (this.#locals[i]![0] === name) return this.#locals[i]![1]
      }
    }
    return this.#scope.identType(stripDot(name))
  }

  #ident(id: number, name: string): CelType {
    const type = this.#lookup(name)
    if (type === undefined) {
      this.#report(id, `undeclared reference to '${name}' (in container '')`)
      return ERROR
    }
    this.references[id] = { kind: 'ident', name: stripDot(name) }
    return type
  }

  #select(e: SelectExpr): CelType {
    const name = qualifiedName(e)
    if (name !== undefined) {
      const type = this.#lookup(name)
      if (type !== undefined) {
        this.references[e.id] = { kind: 'ident', name: stripDot(name) }
        return type
      }
    }
    const type = this.#field(e.id, e.operand, e.field, false)
    return e.testOnly ? BOOL : this.#unifier.substitute(type, false)
  }

  /** Returns the type of a selection. A selection from an optional value gives an optional value. */
  #field(id: number, operand: Expr, field: string, optional: boolean): CelType {
    const operandType = this.#unifier.substitute(this.check(operand), false)
    const isOptional = isOptionalType(operandType)
    const target = isOptional ? operandType.params[0]! : operandType
    let result: CelType = ERROR
    switch (target.kind) {
      case 'map':
        result = target.params[1]!
        break
      case 'struct':
        result = this.#structField(id, target.name, field) ?? ERROR
        break
      case 'typeParam':
        // The type of the operand is known only at run time.
        this.#unifier.isAssignable(DYN, target)
        result = DYN
        break
      default:
        if (target.kind !== 'dyn' && target.kind !== 'any' && target.kind !== 'error') {
          this.#report(id, `type '${target}' does not support field selection`)
        }
        result = DYN
    }
    return isOptional || optional ? optionalType(result) : result
  }

  #structField(id: number, struct: string, field: string): CelType | undefined {
    if (!this.#scope.hasStruct(struct)) {
      this.#report(id, `unexpected failed resolution of '${struct}'`)
      return undefined
    }
    const type = this.#scope.fieldType(struct, field)
    if (type === undefined) this.#report(id, `undefined field '${field}'`)
    return type
  }

  #call(e: CallExpr): CelType {
    if (e.fn === OPERATORS.optSelect) return this.#optSelect(e)
    for (const arg of e.args) this.check(arg)
    if (e.target === undefined) {
      const fn = this.#scope.function(stripDot(e.fn))
      if (fn === undefined) return this.#undeclared(e.id, e.fn)
      return this.#resolve(e, fn, undefined, false)
    }
    const prefix = qualifiedName(e.target)
    if (prefix !== undefined) {
      const fn = this.#scope.function(stripDot(`${prefix}.${e.fn}`))
      if (fn !== undefined) return this.#resolve(e, fn, undefined, true)
    }
    this.check(e.target)
    const fn = this.#scope.function(e.fn)
    if (fn === undefined) return this.#undeclared(e.id, e.fn)
    return this.#resolve(e, fn, e.target, false)
  }

  #undeclared(id: number, name: string): CelType {
    this.#report(id, `undeclared reference to '${name}' (in container '')`)
    return ERROR
  }

  #optSelect(e: CallExpr): CelType {
    const [operand, field] = e.args as [Expr, Expr]
    const name = field.kind === 'literal' && typeof field.value === 'string' ? field.value : ''
    const type = this.#field(e.id, operand, name, true)
    this.#types[field.id] = STRING
    this.references[e.id] = { kind: 'call', fn: e.fn, overloads: ['select_optional_field'], namespaced: false }
    return this.#unifier.substitute(type, false)
  }

  /**
   * Resolves a call against all overloads with the right number of arguments. If several match with different results,
   * the type is dyn and the overload is chosen at run time.
   */
  #resolve(e: CallExpr, fn: CelFunction, target: Expr | undefined, namespaced: boolean): CelType {
    const operands = target === undefined ? e.args : [target, ...e.args]
    const argTypes = operands.map((a) => this.#types[a.id]!)
    if (fn.name === OPERATORS.and || fn.name === OPERATORS.or) return this.#logical(e, fn, argTypes)
    const overloads: string[] = []
    let result: CelType | undefined
    for (const overload of fn.overloads) {
      if ((overload.member === true) !== (target !== undefined) || overload.args.length !== argTypes.length) continue
      const fresh = new Map<string, CelType>()
      const instantiate = (t: CelType): CelType => this.#instantiate(t, fresh)
      if (!this.#unifier.areAssignable(argTypes, overload.args.map(instantiate))) continue
      overloads.push(overload.id)
      const type = this.#unifier.substitute(instantiate(overload.result), false)
      if (result === undefined) result = type
      else if (result.kind !== 'dyn' && !sameType(type, result)) result = DYN
    }
    if (result === undefined) {
      const shown = argTypes.map((t) => this.#unifier.substitute(t, true))
      const receiver = target === undefined ? '' : `${shown.shift()}.`
      this.#report(e.id, `found no matching overload for '${fn.name}' applied to '${receiver}(${shown.join(', ')})'`)
      return ERROR
    }
    this.references[e.id] = { kind: 'call', fn: fn.name, overloads, namespaced }
    return result
  }

  /** Unlike other calls, `&&` and `||` report each operand that is not a bool. */
  #logical(e: CallExpr, fn: CelFunction, argTypes: readonly CelType[]): CelType {
    let isOk = true
    argTypes.forEach((t, i) => {
      if (this.#unifier.isAssignable(t, BOOL)) return
      this.#mismatch(e.args[i]!.id, BOOL, t)
      isOk = false
    })
    if (!isOk) return ERROR
    this.references[e.id] = { kind: 'call', fn: fn.name, overloads: [fn.overloads[0]!.id], namespaced: false }
    return BOOL
  }

  /** Replaces the type parameters by fresh variables, the same variable for the same name. */
  #instantiate(t: CelType, fresh: Map<string, CelType>): CelType {
    if (t.kind === 'typeParam') {
      let variable = fresh.get(t.name)
      if (variable === undefined) fresh.set(t.name, (variable = this.#unifier.freshVariable()))
      return variable
    }
    if (t.params.length === 0) return t
    const params = t.params.map((p) => this.#instantiate(p, fresh))
    return new CelType(t.kind, t.name, params)
  }

  #mismatch(id: number, expected: CelType, actual: CelType): void {
    this.#report(id, `expected type '${expected}' but found '${actual}'`)
  }

  /** Returns the element type of an element written as `?x`, which must be optional. */
  #unwrapped(e: Expr, type: CelType): CelType {
    if (isOptionalType(type)) return type.params[0]!
    if (type.kind !== 'dyn' && type.kind !== 'any') this.#mismatch(e.id, optionalType(type), type)
    return type
  }

  #list(e: ListExpr): CelType {
    let elements: CelType | undefined
    e.elements.forEach((element, i) => {
      const type = this.check(element)
      elements = this.#join(elements, e.optional.includes(i) ? this.#unwrapped(element, type) : type)
    })
    return listType(elements ?? this.#unifier.freshVariable())
  }

  #map(e: MapExpr): CelType {
    let keys: CelType | undefined
    let values: CelType | undefined
    for (const entry of e.entries) {
      keys = this.#join(keys, this.check(entry.key))
      const type = this.check(entry.value)
      values = this.#join(values, entry.optional ? this.#unwrapped(entry.value, type) : type)
    }
    return mapType(keys ?? this.#unifier.freshVariable(), values ?? this.#unifier.freshVariable())
  }

  /**
   * Returns the common type of the elements of a list or map. Mixed elements give dyn; literal validation rejects them
   * later, except in arguments of `format`.
   */
  #join(previous: CelType | undefined, current: CelType): CelType {
    if (previous === undefined) return current
    return this.#unifier.isAssignable(previous, current) ? mostGeneral(previous, current) : DYN
  }

  #struct(e: StructExpr): CelType {
    const ident = this.#lookup(e.typeName)
    if (ident === undefined) return this.#undeclared(e.id, e.typeName)
    let result: CelType = ERROR
    if (ident.kind !== 'type') {
      if (ident.kind !== 'error') this.#report(e.id, `'${ident.name}' is not a type`)
    } else {
      result = ident.params[0] ?? ERROR
      if (result.kind !== 'struct') {
        this.#report(e.id, `'${result.name}' is not a message type`)
        result = ERROR
      }
    }
    for (const field of e.fields) {
      let type = this.check(field.value)
      const expected = this.#structField(field.id, result.name, field.name) ?? ERROR
      if (field.optional) type = this.#unwrapped(field.value, type)
      if (!this.#unifier.isAssignable(expected, type)) {
        this.#report(field.id, `expected type of field '${field.name}' is '${expected}' but provided type is '${type}'`)
      }
    }
    this.references[e.id] = { kind: 'ident', name: result.name }
    return result
  }

  /** Checks a fold. The result may refer to the accumulator, but not to the iteration variables. */
  #comprehension(e: ComprehensionExpr): CelType {
    const range = this.#unifier.substitute(this.check(e.range), false)
    const accumulator = this.check(e.accuInit)
    const [first, second] = this.#iterationTypes(e, range)
    this.#locals.push([e.accuVar, accumulator], [e.iterVar, first])
    if (e.iterVar2 !== undefined) this.#locals.push([e.iterVar2, second])
    this.#assert(e.condition, BOOL)
    this.#assert(e.step, accumulator)
    this.#locals.length -= e.iterVar2 === undefined ? 1 : 2
    const result = this.check(e.result)
    this.#locals.pop()
    return this.#unifier.substitute(result, false)
  }

  #assert(e: Expr, expected: CelType): void {
    const type = this.check(e)
    if (!this.#unifier.isAssignable(expected, type)) this.#mismatch(e.id, expected, type)
  }

  /** Returns the types of the one or two iteration variables. */
  #iterationTypes(e: ComprehensionExpr, range: CelType): [CelType, CelType] {
    switch (range.kind) {
      case 'list':
        return e.iterVar2 === undefined ? [range.params[0]!, DYN] : [INT, range.params[0]!]
      case 'map':
        return [range.params[0]!, range.params[1]!]
      case 'dyn':
      case 'error':
      case 'typeParam':
        this.#unifier.isAssignable(DYN, range)
        return [DYN, DYN]
      default:
        this.#report(
          e.range.id,
          `expression of type '${range}' cannot be range of a comprehension (must be list, map, or dynamic)`,
        )
        return [ERROR, ERROR]
    }
  }
}

const LITERAL_TYPES: ReadonlyMap<CelType, CelType> = new Map(
  [BOOL, BYTES, DOUBLE, INT, NULL, STRING, UINT].map((t) => [t, t]),
)

function stripDot(name: string): string {
  return name.startsWith('.') ? name.slice(1) : name
}
