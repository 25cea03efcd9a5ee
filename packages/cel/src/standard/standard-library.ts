import { type CelFunction, type CelLibrary, type CelOverload, defineLibrary } from '../define/library.ts'
import { OPERATORS } from '../syntax/ast.ts'
import { mutableCopy } from '../values/accumulators.ts'
import { noSuchOverload } from '../values/cel-error.ts'
import {
  BOOL,
  BYTES,
  type CelType,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  listType,
  mapType,
  NULL,
  STRING,
  TIMESTAMP,
  TYPE,
  typeOfType,
  typeParam,
  UINT,
} from '../values/cel-type.ts'
import type { CelMap } from '../values/collections.ts'
import { celEquals } from '../values/equality.ts'
import { matchesRegex } from '../values/regex.ts'
import type { CelDuration, CelTimestamp, CelValue } from '../values/values.ts'
import { add, divide, isIn, modulo, multiply, negate, sizeOf, subtract } from './arithmetic.ts'
import { compare } from './comparison.ts'
import { toBool, toBytes, toDouble, toDuration, toInt, toText, toTimestamp, toType, toUint } from './conversions.ts'
import { STANDARD_MACROS } from './macros.ts'
import { type CivilTime, civilTime, durationIn } from './time-functions.ts'

const A = typeParam('A')
const B = typeParam('B')
const LIST_A = listType(A)
const MAP_AB = mapType(A, B)

function overload(id: string, args: readonly CelType[], result: CelType): CelOverload {
  return { id, args, result }
}

function member(id: string, args: readonly CelType[], result: CelType): CelOverload {
  return { id, args, result, member: true }
}

function fn(name: string, evaluate: (...args: CelValue[]) => CelValue, ...overloads: CelOverload[]): CelFunction {
  return { name, overloads, evaluate }
}

/** Returns the overloads of an operator on operands of the same type, with cel-go's ids: `add_int64`. */
function sameTypes(verb: string, types: readonly CelType[]): CelOverload[] {
  return types.map((t) => overload(`${verb}_${OVERLOAD_SUFFIX.get(t) ?? t.name}`, [t, t], t))
}

const OVERLOAD_SUFFIX: ReadonlyMap<CelType, string> = new Map([
  [INT, 'int64'],
  [UINT, 'uint64'],
  [DURATION, 'duration'],
  [TIMESTAMP, 'timestamp'],
])

/** Declares an ordering operator. Numbers are comparable across numeric types. */
function ordering(name: string, verb: string, holds: (order: number) => boolean): CelFunction {
  const overloads: CelOverload[] = []
  const suffix = (t: CelType): string => OVERLOAD_SUFFIX.get(t) ?? t.name
  const numbers = [INT, UINT, DOUBLE]
  overloads.push(overload(`${verb}_bool`, [BOOL, BOOL], BOOL))
  for (const left of numbers) {
    overloads.push(overload(`${verb}_${suffix(left)}`, [left, left], BOOL))
    for (const right of numbers) {
      if (left !== right) overloads.push(overload(`${verb}_${suffix(left)}_${suffix(right)}`, [left, right], BOOL))
    }
  }
  for (const t of [STRING, BYTES, TIMESTAMP, DURATION]) overloads.push(overload(`${verb}_${suffix(t)}`, [t, t], BOOL))
  return fn(name, (a, b) => holds(compare(name, a!, b!)), ...overloads)
}

function conversion(
  name: string,
  result: CelType,
  from: readonly CelType[],
  convert: (v: CelValue) => CelValue,
): CelFunction {
  const short = (t: CelType): string => OVERLOAD_SUFFIX.get(t) ?? t.name
  const overloads = from.map((t) => ({
    ...overload(`${short(t)}_to_${short(result)}`, [t], result),
    evaluate: convert,
  }))
  return { name, overloads }
}

/**
 * Declares a `getX` method of timestamps, with and without a time zone, and of durations if `nanosPerUnit` is given.
 */
function timePart(
  name: string,
  ids: readonly [string, string],
  part: (t: CivilTime) => number,
  nanosPerUnit?: bigint,
): CelFunction {
  const overloads: CelOverload[] = [
    { ...member(ids[0], [TIMESTAMP], INT), evaluate: (t: CelTimestamp) => part(civilTime(t, 'UTC')) },
    {
      ...member(ids[1], [TIMESTAMP, STRING], INT),
      evaluate: (t: CelTimestamp, zone: string) => part(civilTime(t, zone)),
    },
  ]
  if (nanosPerUnit !== undefined) {
    const id = ids[0].replace('timestamp', 'duration')
    overloads.push({ ...member(id, [DURATION], INT), evaluate: (d: CelDuration) => durationIn(d, nanosPerUnit) })
  }
  return { name, overloads }
}

function stringTest(name: string, id: string, test: (text: string, part: string) => boolean): CelFunction {
  const evaluate = (a: CelValue | undefined, b: CelValue | undefined): boolean => {
    if (typeof a !== 'string' || typeof b !== 'string') throw noSuchOverload()
    return test(a, b)
  }
  return fn(name, evaluate, member(id, [STRING, STRING], BOOL))
}

/** Inserts in place if the map is an accumulator: see `mutableCopy`. */
function insertEntry(map: CelMap, key: CelValue, value: CelValue): CelMap {
  return mutableCopy(map).insert(key, value)
}

function insertEntries(map: CelMap, added: CelMap): CelMap {
  const target = mutableCopy(map)
  for (const key of added.keys()) target.insert(key, added.get(key)!)
  return target
}

// The planner evaluates these operators itself, so their implementation is never called.
const evaluatedByPlanner = (): never => {
  throw noSuchOverload()
}

const functions = (): readonly CelFunction[] => [
  fn(OPERATORS.conditional, evaluatedByPlanner, overload('conditional', [BOOL, A, A], A)),
  fn(OPERATORS.and, evaluatedByPlanner, overload('logical_and', [BOOL, BOOL], BOOL)),
  fn(OPERATORS.or, evaluatedByPlanner, overload('logical_or', [BOOL, BOOL], BOOL)),
  fn(
    OPERATORS.not,
    (v) => {
      if (typeof v !== 'boolean') throw noSuchOverload()
      return !v
    },
    overload('logical_not', [BOOL], BOOL),
  ),
  fn(OPERATORS.notStrictlyFalse, (v) => v !== false, overload('not_strictly_false', [BOOL], BOOL)),
  fn(OPERATORS.equals, (a, b) => celEquals(a!, b!), overload('equals', [A, A], BOOL)),
  fn(OPERATORS.notEquals, (a, b) => !celEquals(a!, b!), overload('not_equals', [A, A], BOOL)),
  fn(
    OPERATORS.add,
    (a, b) => add(a!, b!),
    ...sameTypes('add', [BYTES, DOUBLE, DURATION]),
    overload('add_duration_timestamp', [DURATION, TIMESTAMP], TIMESTAMP),
    overload('add_timestamp_duration', [TIMESTAMP, DURATION], TIMESTAMP),
    ...sameTypes('add', [INT]),
    overload('add_list', [LIST_A, LIST_A], LIST_A),
    ...sameTypes('add', [STRING, UINT]),
  ),
  fn(OPERATORS.divide, (a, b) => divide(a!, b!), ...sameTypes('divide', [DOUBLE, INT, UINT])),
  fn(OPERATORS.modulo, (a, b) => modulo(a!, b!), ...sameTypes('modulo', [INT, UINT])),
  fn(OPERATORS.multiply, (a, b) => multiply(a!, b!), ...sameTypes('multiply', [DOUBLE, INT, UINT])),
  fn(
    OPERATORS.negate,
    (a) => negate(a!),
    overload('negate_double', [DOUBLE], DOUBLE),
    overload('negate_int64', [INT], INT),
  ),
  fn(
    OPERATORS.subtract,
    (a, b) => subtract(a!, b!),
    ...sameTypes('subtract', [DOUBLE, DURATION, INT]),
    overload('subtract_timestamp_duration', [TIMESTAMP, DURATION], TIMESTAMP),
    overload('subtract_timestamp_timestamp', [TIMESTAMP, TIMESTAMP], DURATION),
    ...sameTypes('subtract', [UINT]),
  ),
  ordering(OPERATORS.less, 'less', (order) => order < 0),
  ordering(OPERATORS.lessEquals, 'less_equals', (order) => order <= 0),
  ordering(OPERATORS.greater, 'greater', (order) => order > 0),
  ordering(OPERATORS.greaterEquals, 'greater_equals', (order) => order >= 0),
  fn(
    OPERATORS.index,
    evaluatedByPlanner,
    overload('index_list', [LIST_A, INT], A),
    overload('index_map', [MAP_AB, A], B),
  ),
  fn(
    OPERATORS.in,
    (a, b) => isIn(a!, b!),
    overload('in_list', [A, LIST_A], BOOL),
    overload('in_map', [A, MAP_AB], BOOL),
  ),
  fn(
    'size',
    (v) => sizeOf(v!),
    ...[BYTES, LIST_A, MAP_AB, STRING].flatMap((t) => [
      overload(`size_${t.name}`, [t], INT),
      member(`${t.name}_size`, [t], INT),
    ]),
  ),
  fn('type', (v) => toType(v!), overload('type', [A], typeOfType(A))),
  conversion('bool', BOOL, [BOOL, STRING], toBool),
  conversion('bytes', BYTES, [BYTES, STRING], toBytes),
  conversion('double', DOUBLE, [DOUBLE, INT, STRING, UINT], toDouble),
  conversion('duration', DURATION, [DURATION, INT, STRING], toDuration),
  fn('dyn', (v) => v!, overload('to_dyn', [A], DYN)),
  conversion('int', INT, [INT, DOUBLE, DURATION, STRING, TIMESTAMP, UINT], toInt),
  conversion('string', STRING, [STRING, BOOL, BYTES, DOUBLE, DURATION, INT, TIMESTAMP, UINT], toText),
  conversion('timestamp', TIMESTAMP, [TIMESTAMP, INT, STRING], toTimestamp),
  conversion('uint', UINT, [UINT, DOUBLE, INT, STRING], toUint),
  stringTest('contains', 'contains_string', (text, part) => text.includes(part)),
  stringTest('endsWith', 'ends_with_string', (text, part) => text.endsWith(part)),
  stringTest('startsWith', 'starts_with_string', (text, part) => text.startsWith(part)),
  fn(
    'matches',
    (text, pattern) => {
      if (typeof text !== 'string' || typeof pattern !== 'string') throw noSuchOverload()
      return matchesRegex(text, pattern)
    },
    overload('matches', [STRING, STRING], BOOL),
    member('matches_string', [STRING, STRING], BOOL),
  ),
  // The macros transformMap and transformMapEntry expand to these.
  {
    name: 'cel.@mapInsert',
    overloads: [
      { id: '@mapInsert_map_key_value', args: [MAP_AB, A, B], result: MAP_AB, evaluate: insertEntry },
      { id: '@mapInsert_map_map', args: [MAP_AB, MAP_AB], result: MAP_AB, evaluate: insertEntries },
    ],
  },
  timePart('getFullYear', ['timestamp_to_year', 'timestamp_to_year_with_tz'], (t) => t.year),
  timePart('getMonth', ['timestamp_to_month', 'timestamp_to_month_with_tz'], (t) => t.month - 1),
  timePart('getDayOfYear', ['timestamp_to_day_of_year', 'timestamp_to_day_of_year_with_tz'], (t) => t.yearDay),
  timePart('getDayOfMonth', ['timestamp_to_day_of_month', 'timestamp_to_day_of_month_with_tz'], (t) => t.day - 1),
  timePart('getDate', ['timestamp_to_day_of_month_1_based', 'timestamp_to_day_of_month_1_based_with_tz'], (t) => t.day),
  timePart('getDayOfWeek', ['timestamp_to_day_of_week', 'timestamp_to_day_of_week_with_tz'], (t) => t.weekday),
  timePart('getHours', ['timestamp_to_hours', 'timestamp_to_hours_with_tz'], (t) => t.hour, 3_600_000_000_000n),
  timePart('getMinutes', ['timestamp_to_minutes', 'timestamp_to_minutes_tz'], (t) => t.minute, 60_000_000_000n),
  timePart('getSeconds', ['timestamp_to_seconds', 'timestamp_to_seconds_tz'], (t) => t.second, 1_000_000_000n),
  timePart(
    'getMilliseconds',
    ['timestamp_to_milliseconds', 'timestamp_to_milliseconds_with_tz'],
    (t) => t.millis,
    1_000_000n,
  ),
]

/** CEL's standard functions, operators, types and macros. Part of every environment. */
export const STANDARD_LIBRARY: CelLibrary = defineLibrary('standard', () => ({
  functions: functions(),
  macros: STANDARD_MACROS,
  types: [BOOL, BYTES, DOUBLE, DURATION, INT, LIST_A, MAP_AB, NULL, STRING, TIMESTAMP, TYPE, UINT].map((type) => ({
    type,
  })),
}))
