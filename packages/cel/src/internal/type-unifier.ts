import { CelType, DYN, listType, mapType, sameType, typeOfType, typeParam } from '../cel-type.ts'

function isDyn(t: CelType): boolean {
  return t.kind === 'dyn' || t.kind === 'any'
}

function isDynOrError(t: CelType): boolean {
  return isDyn(t) || t.kind === 'error'
}

/**
 * Decides assignability and binds type parameters in the process, as in cel-go's checker/types.go. A failed check
 * leaves no bindings behind.
 */
export class TypeUnifier {
  #bindings = new Map<string, CelType>()
  /** The bindings to restore if the current check fails: name and previous binding. */
  readonly #journal: [string, CelType | undefined][] = []
  #freeVariables = 0

  /** Returns a new type parameter. */
  freshVariable(): CelType {
    return typeParam(`_var${this.#freeVariables++}`)
  }

  /** Reports whether a `from` may be used where a `to` is expected. If so, binds type parameters. */
  isAssignable(from: CelType, to: CelType): boolean {
    return this.areAssignable([from], [to])
  }

  areAssignable(from: readonly CelType[], to: readonly CelType[]): boolean {
    this.#journal.length = 0
    if (this.#assignList(from, to)) return true
    for (let i = this.#journal.length - 1; i >= 0; i--) {
      const [name, former] = this.#journal[i]!
      if (former === undefined) this.#bindings.delete(name)
      else this.#bindings.set(name, former)
    }
    return false
  }

  /** Replaces bound parameters in a type. Unbound ones become dyn if `freeToDyn` is set. */
  substitute(t: CelType, freeToDyn: boolean): CelType {
    switch (t.kind) {
      case 'typeParam': {
        const bound = this.#bindings.get(t.name)
        if (bound !== undefined) return this.substitute(bound, freeToDyn)
        return freeToDyn ? DYN : t
      }
      case 'list':
        return this.#rebuilt(t, freeToDyn, (p) => listType(p[0]!))
      case 'map':
        return this.#rebuilt(t, freeToDyn, (p) => mapType(p[0]!, p[1]!))
      case 'opaque':
        return this.#rebuilt(t, freeToDyn, (p) => new CelType('opaque', t.name, p))
      case 'type':
        return this.#rebuilt(t, freeToDyn, (p) => typeOfType(p[0]!))
      default:
        return t
    }
  }

  #rebuilt(t: CelType, freeToDyn: boolean, make: (params: CelType[]) => CelType): CelType {
    if (t.params.length === 0) return t
    const params = t.params.map((p) => this.substitute(p, freeToDyn))
    return params.every((p, i) => p === t.params[i]) ? t : make(params)
  }

  #bind(name: string, t: CelType): void {
    this.#journal.push([name, this.#bindings.get(name)])
    this.#bindings.set(name, t)
  }

  #assignList(from: readonly CelType[], to: readonly CelType[]): boolean {
    return from.length === to.length && from.every((t, i) => this.#assign(t, to[i]!))
  }

  #assign(t1: CelType, t2: CelType): boolean {
    if (t2.kind === 'typeParam') {
      const { valid, hasBinding } = this.#substitutionFor(t1, t2)
      if (valid) return true
      if (hasBinding) return false
    }
    if (t1.kind === 'typeParam') return this.#substitutionFor(t2, t1).valid
    if (isDynOrError(t1) || isDynOrError(t2)) return true
    if (t1.kind === 'null') return acceptsNull(t2)
    if (t2.kind === 'null') return acceptsNull(t1)
    switch (t1.kind) {
      case 'type':
        return t2.kind === 'type'
      case 'opaque':
      case 'list':
      case 'map':
        return t1.kind === t2.kind && t1.name === t2.name && this.#assignList(t1.params, t2.params)
      default:
        return sameType(t1, t2)
    }
  }

  /** Reports whether the parameter is, or can become, bound to `t`. */
  #substitutionFor(t: CelType, param: CelType): { valid: boolean; hasBinding: boolean } {
    if (sameType(t, param)) return { valid: true, hasBinding: true }
    const bound = this.#bindings.get(param.name)
    if (bound !== undefined) {
      if (sameType(t, bound)) return { valid: true, hasBinding: true }
      if (!this.#assign(t, bound)) return { valid: false, hasBinding: true }
      const general = mostGeneral(t, bound)
      if (this.#notWithin(param, general)) this.#bind(param.name, general)
      return { valid: true, hasBinding: true }
    }
    if (!this.#notWithin(param, t)) return { valid: false, hasBinding: false }
    this.#bind(param.name, t)
    return { valid: true, hasBinding: false }
  }

  /** The occurs check: a parameter must not be bound to a type that contains it. */
  #notWithin(t: CelType, within: CelType): boolean {
    if (sameType(t, within)) return false
    if (within.kind === 'typeParam') {
      const bound = this.#bindings.get(within.name)
      return bound === undefined || this.#notWithin(t, bound)
    }
    return within.params.every((p) => this.#notWithin(t, p))
  }
}

function acceptsNull(t: CelType): boolean {
  switch (t.kind) {
    case 'opaque':
    case 'struct':
    case 'any':
    case 'duration':
    case 'timestamp':
    case 'null':
      return true
    default:
      return false
  }
}

/** Returns the more general of two types that unify. */
export function mostGeneral(a: CelType, b: CelType): CelType {
  return isEqualOrLessSpecific(a, b) ? a : b
}

function isEqualOrLessSpecific(a: CelType, b: CelType): boolean {
  if (isDyn(a) || a.kind === 'typeParam') return true
  if (isDyn(b) || b.kind === 'typeParam') return false
  if (a.kind !== b.kind) return false
  switch (a.kind) {
    case 'opaque':
    case 'list':
    case 'map':
      return (
        a.name === b.name &&
        a.params.length === b.params.length &&
        a.params.every((p, i) => isEqualOrLessSpecific(p, b.params[i]!))
      )
    case 'type':
      return true
    default:
      return sameType(a, b)
  }
}
