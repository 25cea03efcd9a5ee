import type { Declarations } from '../define/declarations.ts'
import type { DeclaredType } from '../schema/declared-type.ts'
import { SchemaObject } from '../schema/schema-values.ts'
import { CelError, noSuchOverload } from '../values/cel-error.ts'
import { CelType } from '../values/cel-type.ts'
import { find, missingMessage, qualifyOptional } from '../values/qualify.ts'
import { CelOptional, type CelValue } from '../values/values.ts'
import type { Frame, Plan, Run } from './frame.ts'

// Attributes are variables and the selections made from them. The cost of all selections is charged before the first is
// made, so each function that fails refunds the selections that are then not made (`above`).

/** Returns the plan of an attribute: a variable or a selection. */
export function attribute(run: Run, cost: number): Plan {
  return { run, cost, attributeCost: 1 }
}

/** The cost of the operand of a selection. An operand that is not an attribute costs one more. */
export function baseOf(operand: Plan): number {
  if (operand.attributeCost === undefined) return operand.cost + 1
  return operand.cost
}

/** Returns the error for an attribute that cannot be read, and refunds the cost of the selections from it. */
export function refunded(f: Frame, selections: number, message: string): CelError {
  f.cost -= selections
  return new CelError(message)
}

/** Returns the native value of a variable. Throws, and refunds the selections from it, if it is missing. */
export function variableValue(f: Frame, name: string, above: number): unknown {
  const value = f.vars[name]
  if (value === undefined) throw refunded(f, above, `no such attribute(s): ${name}`)
  return value
}

/** Reads a comprehension variable. An accumulator may contain an error, which is then thrown. */
export function localReader(slot: number): Run {
  return (f) => {
    const value = f.locals[slot]
    if (value instanceof CelError) throw value
    return value as CelValue
  }
}

/** Returns the type value that an identifier denotes, without type parameters. */
export function typeIdentifier(env: Declarations, name: string): CelType {
  const type = env.typeValue(name)
  if (type === undefined) throw new CelError(`reference to undefined type: ${name}`)
  return type.params.length === 0 ? type : new CelType(type.kind, type.name)
}

/** Returns the JSON of an object with a schema. */
export function jsonOf(value: CelValue): unknown {
  if (value instanceof SchemaObject) return value.json
  throw noSuchOverload()
}

const OBJECT_PROTOTYPE_KEYS = new Set(Object.getOwnPropertyNames(Object.prototype))

/** Reads a property of a JSON object; null has none. Properties inherited from Object.prototype are not data. */
export function propertyReader(run: (f: Frame) => unknown, name: string): (f: Frame) => unknown {
  const isInherited = OBJECT_PROTOTYPE_KEYS.has(name)
  return (f) => {
    const object = run(f)
    if (object === null) return undefined
    if (typeof object !== 'object') {
      throw new CelError('invalid data, expected a map for the provided schema with type=object')
    }
    if (isInherited && !Object.hasOwn(object, name)) return undefined
    return (object as Record<string, unknown>)[name]
  }
}

/** Returns the reader of a declared type, with a fast path for scalars that need no conversion. */
export function quickReader(declared: DeclaredType): (json: unknown) => CelValue {
  switch (declared.type.kind) {
    case 'int':
      return (json) => (Number.isSafeInteger(json) ? (json as number) : declared.read(json))
    case 'string':
      return (json) => (typeof json === 'string' ? json : declared.read(json))
    case 'bool':
      return (json) => (typeof json === 'boolean' ? json : declared.read(json))
    default:
      return (json) => declared.read(json)
  }
}

/** Selects an element. A step from an optional value is charged only if the value exists. */
export function qualifyCharged(f: Frame, value: CelValue, key: CelValue, above: number): CelValue {
  if (!(value instanceof CelOptional)) {
    const found = find(value, key)
    if (found === undefined) throw refunded(f, above, missingMessage(value, key))
    return found
  }
  f.cost -= 1
  return charged(f, qualifyOptional(value, key))
}

/** Charges one unit if the optional has a value. */
export function charged(f: Frame, value: CelOptional): CelOptional {
  if (value.value !== undefined) f.cost += 1
  return value
}
