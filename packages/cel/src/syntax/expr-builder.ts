import { CaughtError } from '@kubewright/base'
import type { CelValue } from '../values/values.ts'
import { ACCUMULATOR, type ComprehensionExpr, type Expr, type MapEntry } from './ast.ts'
import type { MacroFactory } from './macro.ts'

/** Thrown by a macro that cannot be expanded. */
export class MacroError extends CaughtError {
  readonly offset: number

  constructor(message: string, offset: number) {
    super(message)
    this.offset = offset
  }
}

/** Allocates node ids and records the source offset of each. */
export class ExprBuilder {
  /** Offsets by id. Ids start at 1. */
  readonly offsets: number[] = [-1]

  id(offset: number): number {
    this.offsets.push(offset)
    return this.offsets.length - 1
  }

  offsetOf(id: number): number {
    return this.offsets[id] ?? -1
  }

  literal(offset: number, value: CelValue): Expr {
    return { kind: 'literal', id: this.id(offset), value }
  }

  call(id: number, fn: string, args: readonly Expr[], target?: Expr): Expr {
    return { kind: 'call', id, fn, target, args }
  }

  /** Returns the node factory for a macro that is called at this offset. */
  macroFactory(offset: number): MacroFactory {
    const id = (): number => this.id(offset)
    const factory: MacroFactory = {
      literal: (value) => this.literal(offset, value),
      ident: (name) => ({ kind: 'ident', id: id(), name }),
      accuIdent: () => ({ kind: 'ident', id: id(), name: ACCUMULATOR }),
      call: (fn, ...args) => this.call(id(), fn, args),
      memberCall: (fn, target, ...args) => this.call(id(), fn, args, target),
      select: (operand, field) => ({ kind: 'select', id: id(), operand, field, testOnly: false }),
      presenceTest: (operand, field) => ({ kind: 'select', id: id(), operand, field, testOnly: true }),
      list: (...elements) => ({ kind: 'list', id: id(), elements, optional: [] }),
      map: (...entries) => ({ kind: 'map', id: id(), entries }),
      mapEntry: (key, value) => ({ id: id(), key, value, optional: false }),
      comprehension: (parts) => ({ kind: 'comprehension', id: id(), ...parts }) satisfies ComprehensionExpr,
      copy: (e) => this.copy(e),
      error: (message, at) => new MacroError(message, at === undefined ? offset : this.offsetOf(at.id)),
    }
    return factory
  }

  /** Returns a copy with new ids at the same offsets. */
  copy(e: Expr): Expr {
    const id = this.id(this.offsetOf(e.id))
    switch (e.kind) {
      case 'literal':
      case 'ident':
        return { ...e, id }
      case 'select':
        return { ...e, id, operand: this.copy(e.operand) }
      case 'call':
        return {
          ...e,
          id,
          target: e.target === undefined ? undefined : this.copy(e.target),
          args: e.args.map((a) => this.copy(a)),
        }
      case 'list':
        return { ...e, id, elements: e.elements.map((x) => this.copy(x)) }
      case 'map':
        return { ...e, id, entries: e.entries.map((x) => this.#copyEntry(x)) }
      case 'struct':
        return {
          ...e,
          id,
          fields: e.fields.map((f) => ({ ...f, id: this.id(this.offsetOf(f.id)), value: this.copy(f.value) })),
        }
      case 'comprehension':
        return {
          ...e,
          id,
          range: this.copy(e.range),
          accuInit: this.copy(e.accuInit),
          condition: this.copy(e.condition),
          step: this.copy(e.step),
          result: this.copy(e.result),
        }
    }
  }

  #copyEntry(entry: MapEntry): MapEntry {
    return { ...entry, id: this.id(this.offsetOf(entry.id)), key: this.copy(entry.key), value: this.copy(entry.value) }
  }
}
