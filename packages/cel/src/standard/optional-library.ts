import { type CelFunction, type CelLibrary, type CelOverload, defineLibrary } from '../define/library.ts'
import { type Expr, OPERATORS } from '../syntax/ast.ts'
import type { CelMacro, MacroFactory } from '../syntax/macro.ts'
import { CelError } from '../values/cel-error.ts'
import { BOOL, CelType, DYN, INT, listType, mapType, optionalType, STRING, typeParam } from '../values/cel-type.ts'
import { ArrayList, CelList, CelMap } from '../values/collections.ts'
import {
  CelBytes,
  CelDouble,
  CelDuration,
  CelOpaque,
  CelOptional,
  CelTimestamp,
  CelUint,
  type CelValue,
} from '../values/values.ts'

const K = typeParam('K')
const V = typeParam('V')
const OPTIONAL_V = optionalType(V)
const LIST_V = listType(V)
const MAP_KV = mapType(K, V)

/** Reports whether a value is the zero value of its type. */
function isZero(v: CelValue): boolean {
  switch (typeof v) {
    case 'boolean':
      return !v
    case 'number':
      return v === 0
    case 'bigint':
      return false
    case 'string':
      return v === ''
  }
  if (v === null) return true
  if (v instanceof CelList || v instanceof CelMap) return v.isZero
  if (v instanceof CelDouble) return v.value === 0
  if (v instanceof CelUint) return v.value === 0n
  if (v instanceof CelBytes) return v.value.length === 0
  if (v instanceof CelDuration) return v.nanos === 0n
  // Go's zero time: the first second of the year 1.
  if (v instanceof CelTimestamp) return v.seconds === -62135596800 && v.nanos === 0
  return v instanceof CelOpaque && v.isZero
}

function optionalValue(v: CelOptional): CelValue {
  if (v.value === undefined) throw new CelError('optional.none() dereference')
  return v.value
}

/** Returns the values of the optionals that have one. */
function unwrap(list: CelList): CelValue {
  const values: CelValue[] = []
  for (const element of list) {
    if (!(element instanceof CelOptional)) throw new CelError(`value ${element} is not optional`)
    if (element.value !== undefined) values.push(element.value)
  }
  return new ArrayList(values)
}

function fn(name: string, ...overloads: CelOverload[]): CelFunction {
  return { name, overloads }
}

const functions = (): readonly CelFunction[] => [
  fn('optional.of', {
    id: 'optional_of',
    args: [V],
    result: OPTIONAL_V,
    evaluate: (v: CelValue) => new CelOptional(v),
  }),
  fn('optional.ofNonZeroValue', {
    id: 'optional_ofNonZeroValue',
    args: [V],
    result: OPTIONAL_V,
    evaluate: (v: CelValue) => (isZero(v) ? CelOptional.NONE : new CelOptional(v)),
  }),
  fn('optional.none', { id: 'optional_none', args: [], result: OPTIONAL_V, evaluate: () => CelOptional.NONE }),
  fn('value', { id: 'optional_value', args: [OPTIONAL_V], result: V, member: true, evaluate: optionalValue }),
  fn('hasValue', {
    id: 'optional_hasValue',
    args: [OPTIONAL_V],
    result: BOOL,
    member: true,
    evaluate: (v: CelOptional) => v.hasValue,
  }),
  // The planner evaluates these two itself, because they evaluate their argument only if needed.
  fn('or', { id: 'optional_or_optional', args: [OPTIONAL_V, OPTIONAL_V], result: OPTIONAL_V, member: true }),
  fn('orValue', { id: 'optional_orValue_value', args: [OPTIONAL_V, V], result: V, member: true }),
  fn(OPERATORS.optSelect, { id: 'select_optional_field', args: [DYN, STRING], result: OPTIONAL_V }),
  fn(
    OPERATORS.optIndex,
    { id: 'list_optindex_optional_int', args: [LIST_V, INT], result: OPTIONAL_V },
    { id: 'optional_list_optindex_optional_int', args: [optionalType(LIST_V), INT], result: OPTIONAL_V },
    { id: 'map_optindex_optional_value', args: [MAP_KV, K], result: OPTIONAL_V },
    { id: 'optional_map_optindex_optional_value', args: [optionalType(MAP_KV), K], result: OPTIONAL_V },
  ),
  fn(
    OPERATORS.index,
    { id: 'optional_list_index_int', args: [optionalType(LIST_V), INT], result: OPTIONAL_V },
    { id: 'optional_map_index_value', args: [optionalType(MAP_KV), K], result: OPTIONAL_V },
  ),
  fn('first', {
    id: 'list_first',
    args: [LIST_V],
    result: OPTIONAL_V,
    member: true,
    evaluate: (list: CelList) => (list.size === 0 ? CelOptional.NONE : new CelOptional(list.at(0))),
  }),
  fn('last', {
    id: 'list_last',
    args: [LIST_V],
    result: OPTIONAL_V,
    member: true,
    evaluate: (list: CelList) => (list.size === 0 ? CelOptional.NONE : new CelOptional(list.at(list.size - 1))),
  }),
  fn('optional.unwrap', { id: 'optional_unwrap', args: [listType(OPTIONAL_V)], result: LIST_V, evaluate: unwrap }),
  fn('unwrapOpt', {
    id: 'optional_unwrapOpt',
    args: [listType(OPTIONAL_V)],
    result: LIST_V,
    member: true,
    evaluate: unwrap,
  }),
]

/** Expands `target.optMap(x, f)` to `target.hasValue() ? wrap(bind x = target.value() in f) : optional.none()`. */
function optionalMacro(name: string, wrap: (f: MacroFactory, e: Expr) => Expr): CelMacro {
  return {
    fn: name,
    receiver: true,
    argCount: 2,
    expand(f, target, args) {
      const variable = args[0]!
      if (variable.kind !== 'ident') throw f.error(`${name}() variable name must be a simple identifier`, variable)
      const bound = f.comprehension({
        range: f.list(),
        iterVar: '#unused',
        iterVar2: undefined,
        accuVar: variable.name,
        accuInit: f.memberCall('value', f.copy(target!)),
        condition: f.literal(false),
        step: f.ident(variable.name),
        result: args[1]!,
      })
      const present = f.memberCall('hasValue', target!)
      return f.call(OPERATORS.conditional, present, wrap(f, bound), f.call('optional.none'))
    },
  }
}

/** Optional values: `a.?b`, `[?i]`, `optional.of()` and their methods. */
export const OPTIONAL_LIBRARY: CelLibrary = defineLibrary('optional', () => ({
  functions: functions(),
  types: [{ type: new CelType('opaque', 'optional_type', [V]) }],
  macros: [optionalMacro('optMap', (f, e) => f.call('optional.of', e)), optionalMacro('optFlatMap', (_f, e) => e)],
}))
