// The list functions that Kubernetes adds: isSorted, sum, min, max, indexOf, lastIndexOf
// (apiserver/pkg/cel/library/lists.go).

import { type CelLibrary, type CelOverload, defineLibrary } from '../define/library.ts'
import { add } from '../standard/arithmetic.ts'
import { CelError, noSuchOverload } from '../values/cel-error.ts'
import {
  BOOL,
  BYTES,
  type CelType,
  DOUBLE,
  DURATION,
  INT,
  listType,
  STRING,
  TIMESTAMP,
  typeParam,
  UINT,
} from '../values/cel-type.ts'
import type { CelList } from '../values/collections.ts'
import { CelBytes, CelDouble, CelDuration, CelTimestamp, CelUint, type CelValue } from '../values/values.ts'
import { SEARCH_COST } from './cost-rules.ts'
import { compareOrTie, equalsOrNot } from './lenient-comparison.ts'

const COMPARABLE: readonly (readonly [string, CelType])[] = [
  ['int', INT],
  ['uint', UINT],
  ['double', DOUBLE],
  ['bool', BOOL],
  ['duration', DURATION],
  ['timestamp', TIMESTAMP],
  ['string', STRING],
  ['bytes', BYTES],
]
const SUMMABLE: readonly (readonly [string, CelType, CelValue])[] = [
  ['int', INT, 0],
  ['uint', UINT, new CelUint(0n)],
  ['double', DOUBLE, new CelDouble(0)],
  ['duration', DURATION, new CelDuration(0n)],
]
const LIST_OF_A = listType(typeParam('A'))
const A = typeParam('A')

/** The Kubernetes list functions: isSorted, sum, min, max, indexOf, lastIndexOf. */
export const listsLibrary: CelLibrary = defineLibrary('kubernetes.lists', () => ({
  functions: [
    {
      name: 'isSorted',
      cost: SEARCH_COST,
      overloads: COMPARABLE.map(([name, type]) => ({
        id: `list_${name}_is_sorted_bool`,
        member: true,
        args: [listType(type)],
        result: BOOL,
        evaluate: isSorted,
      })),
    },
    {
      name: 'sum',
      cost: SEARCH_COST,
      overloads: SUMMABLE.map(([name, type, zero]) => ({
        id: `list_${name}_sum_${name}`,
        member: true,
        args: [listType(type)],
        result: type,
        evaluate: (list: CelList) => sum(list, zero),
      })),
    },
    { name: 'max', cost: SEARCH_COST, overloads: extremes('max', -1) },
    { name: 'min', cost: SEARCH_COST, overloads: extremes('min', 1) },
    {
      name: 'indexOf',
      cost: SEARCH_COST,
      overloads: [{ id: 'list_a_index_of_int', member: true, args: [LIST_OF_A, A], result: INT, evaluate: indexOf }],
    },
    {
      name: 'lastIndexOf',
      cost: SEARCH_COST,
      overloads: [
        { id: 'list_a_last_index_of_int', member: true, args: [LIST_OF_A, A], result: INT, evaluate: lastIndexOf },
      ],
    },
  ],
}))

function extremes(name: 'min' | 'max', worse: number): CelOverload[] {
  return COMPARABLE.map(([typeName, type]) => ({
    id: `list_${typeName}_${name}_${typeName}`,
    member: true,
    args: [listType(type)],
    result: type,
    evaluate: (list: CelList) => extreme(list, name, worse),
  }))
}

function isSorted(list: CelList): boolean {
  let previous: CelValue | undefined
  for (const next of list) {
    if (!isComparable(next)) throw noSuchOverload()
    if (previous !== undefined && compareOrTie(previous, next) > 0) return false
    previous = next
  }
  return true
}

function extreme(list: CelList, name: string, worse: number): CelValue {
  let best: CelValue | undefined
  for (const next of list) {
    if (!isComparable(next)) throw noSuchOverload()
    if (best === undefined || Math.sign(compareOrTie(best, next)) === worse) best = next
  }
  if (best === undefined) throw new CelError(`${name} called on empty list`)
  return best
}

function isComparable(value: CelValue): boolean {
  if (typeof value !== 'object') return true
  return (
    value instanceof CelDouble ||
    value instanceof CelUint ||
    value instanceof CelDuration ||
    value instanceof CelTimestamp ||
    value instanceof CelBytes
  )
}

function sum(list: CelList, zero: CelValue): CelValue {
  let total = zero
  for (const next of list) total = add(total, next)
  return total
}

function indexOf(list: CelList, item: CelValue): number {
  for (let i = 0; i < list.size; i++) {
    if (equalsOrNot(list.at(i), item)) return i
  }
  return -1
}

function lastIndexOf(list: CelList, item: CelValue): number {
  for (let i = list.size - 1; i >= 0; i--) {
    if (equalsOrNot(list.at(i), item)) return i
  }
  return -1
}
