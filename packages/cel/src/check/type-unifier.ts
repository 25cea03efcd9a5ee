import { CelType, DYN, listType, mapType, sameType, typeOfType, typeParam } from '../values/cel-type.ts'

/**
 * Decides assignability and binds type parameters in the process. The results are those of cel-go. A failed check leaves no
 * bindings behind.
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

  #assign(from: CelType, to: CelType): boolean {
    if (to.kind === 'typeParam') {
      const isAccepted = this.#narrow(to, from)
      // A parameter that would contain itself may still be what another parameter stands for.
      if (isAccepted !== undefined || from.kind !== 'typeParam') return isAccepted === true
    }
    if (from.kind === 'typeParam') return this.#narrow(from, to) === true
    if (isWild(from) || isWild(to)) return true
    if (from.kind === 'null' || to.kind === 'null') return NULLABLE.has(from.kind) && NULLABLE.has(to.kind)
    if (from.kind === 'type') return to.kind === 'type'
    return isSameShape(from, to) && this.#assignList(from.params, to.params)
  }

  /**
   * Binds a parameter so that it accepts `type`, or widens its binding. Returns false if the binding does not admit the type, undefined if
   * the parameter would contain itself.
   */
  #narrow(param: CelType, type: CelType): boolean | undefined {
    if (sameType(type, param)) return true
    const bound = this.#bindings.get(param.name)
    if (bound === undefined) {
      if (this.#contains(type, param)) return undefined
      this.#bind(param.name, type)
    } else if (!sameType(type, bound)) {
      if (!this.#assign(type, bound)) return false
      const wider = mostGeneral(type, bound)
      if (!this.#contains(wider, param)) this.#bind(param.name, wider)
    }
    return true
  }

  /** Reports whether a parameter occurs in a type, directly or through the bindings of other parameters. */
  #contains(type: CelType, param: CelType): boolean {
    if (sameType(type, param)) return true
    if (type.kind !== 'typeParam') return type.params.some((inner) => this.#contains(inner, param))
    const bound = this.#bindings.get(type.name)
    return bound !== undefined && this.#contains(bound, param)
  }
}

/** The kinds of types that accept null, and null itself. */
const NULLABLE: ReadonlySet<CelType['kind']> = new Set(['opaque', 'struct', 'any', 'duration', 'timestamp', 'null'])

/** Reports whether a type accepts and fits everything. ERROR does, so that one mistake causes one message. */
function isWild({ kind }: CelType): boolean {
  return kind === 'dyn' || kind === 'any' || kind === 'error'
}

/** Reports whether two types differ in their parameters at most. */
function isSameShape(a: CelType, b: CelType): boolean {
  return a.kind === b.kind && a.name === b.name && a.params.length === b.params.length
}

/** Returns the more general of two types that unify. */
export function mostGeneral(a: CelType, b: CelType): CelType {
  return covers(a, b) ? a : b
}

/** Reports whether `a` is equal to `b`, or is `b` with parts replaced by dyn or type parameters. */
function covers(a: CelType, b: CelType): boolean {
  if (isOpen(a) || isOpen(b)) return isOpen(a)
  if (a.kind === 'type') return b.kind === 'type'
  return isSameShape(a, b) && a.params.every((param, i) => covers(param, b.params[i]!))
}

function isOpen({ kind }: CelType): boolean {
  return kind === 'dyn' || kind === 'any' || kind === 'typeParam'
}
