// The list functions of cel-go's ext/lists.go, version 3: slice, flatten, sort, sortBy, lists.range, reverse, distinct.

import {
  type CallEstimate,
  type CostNode,
  exactly,
  type FunctionCost,
  MAX_COST,
  multiplyRanges,
  type SizeEstimate,
  STRING_TRAVERSAL_COST,
} from '../define/cost-estimate.ts'
import { type CelLibrary, defineLibrary } from '../define/library.ts'
import { mapFold } from '../standard/macros.ts'
import type { Expr } from '../syntax/ast.ts'
import type { CelMacro, MacroFactory } from '../syntax/macro.ts'
import { CelError } from '../values/cel-error.ts'
import {
  BOOL,
  BYTES,
  type CelType,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  listType,
  STRING,
  sameType,
  TIMESTAMP,
  typeParam,
  UINT,
} from '../values/cel-type.ts'
import { ArrayList, CelList } from '../values/collections.ts'
import { actualSize, type CelInt, type CelValue, typeOf } from '../values/values.ts'
import { allocatingListCost, allocatingListEstimate } from './cost-rules.ts'
import { compareOrTie, equalsOrNot } from './lenient-comparison.ts'

const LIST = listType(typeParam('T'))
const COMPARABLE: readonly CelType[] = [INT, UINT, DOUBLE, BOOL, DURATION, TIMESTAMP, STRING, BYTES]

const OUTPUT_COST = (_: string, __: readonly CelValue[], result: CelValue): number =>
  allocatingListCost(1, actualSize(result))

const SLICE_COST: FunctionCost = {
  estimate(call) {
    const [start, end] = call.args
    if (call.target === undefined || start === undefined || end === undefined) return undefined
    const length = literalOr(end, call.sizeOf(call.target).max) - literalOr(start, 0)
    // In cel-go the difference is unsigned, so an end before the start means a huge list.
    return allocatingListEstimate(1, exactly(length < 0 ? MAX_COST : length))
  },
  track: OUTPUT_COST,
}

const RANGE_COST: FunctionCost = {
  estimate(call) {
    const count = call.args[0]
    return count && allocatingListEstimate(1, exactly(literalOr(count, MAX_COST)))
  },
  track: OUTPUT_COST,
}

const FLATTEN_COST: FunctionCost = {
  estimate(call) {
    if (call.target === undefined) return undefined
    const depth = call.args[0] === undefined ? 1 : literalOr(call.args[0], MAX_COST)
    return allocatingListEstimate(depth, call.sizeOf(call.target))
  },
  track: (_, [list, depth]) => allocatingListCost(depth === undefined ? 1 : Number(depth), actualSize(list ?? null)),
}

const REVERSE_COST: FunctionCost = {
  estimate: (call) => call.target && allocatingListEstimate(1, call.sizeOf(call.target)),
  track: OUTPUT_COST,
}

const DISTINCT_COST: FunctionCost = {
  estimate: (call) => call.target && selfCompareEstimate(2, call.sizeOf(call.target)),
  track: (_, args) => selfCompareCost(args[0]),
}

function sortCost(element: CelType): FunctionCost {
  const factor = element === STRING || element === BYTES ? 2 + STRING_TRAVERSAL_COST : 2
  return {
    estimate: (call) => call.target && selfCompareEstimate(factor, call.sizeOf(call.target)),
    track: (_, args) => selfCompareCost(args[0]),
  }
}

function sortByCost(key: CelType): FunctionCost {
  const factor = key === STRING || key === BYTES ? 2 + STRING_TRAVERSAL_COST : 2
  return {
    estimate: (call) => call.args[0] && selfCompareEstimate(factor, call.sizeOf(call.args[0])),
    track: (_, args) => selfCompareCost(args[1]),
  }
}

/**
 * The cost of comparing each element with each other one. As in cel-go, the square also counts as the size of the
 * result.
 */
function selfCompareEstimate(factor: number, size: SizeEstimate): CallEstimate {
  return allocatingListEstimate(factor, multiplyRanges(size, size))
}

function selfCompareCost(list: CelValue | undefined): number {
  if (!(list instanceof CelList) || list.size === 0) return allocatingListCost(2, 0)
  const first = typeOf(list.at(0))
  const factor = first === STRING || first === BYTES ? 2 + STRING_TRAVERSAL_COST : 2
  return allocatingListCost(factor, list.size * list.size)
}

/** Returns the value of an int literal, at least 0, or the fallback. */
function literalOr(node: CostNode, fallback: number): number {
  const { literal } = node
  return typeof literal === 'number' || typeof literal === 'bigint' ? Math.max(0, Number(literal)) : fallback
}

/** The list functions of cel-go: slice, flatten, sort, sortBy, lists.range, reverse, distinct. */
export const extListsLibrary: CelLibrary = defineLibrary('cel.lib.ext.lists', () => ({
  macros: [sortByMacro()],
  functions: [
    {
      name: 'slice',
      cost: SLICE_COST,
      overloads: [{ id: 'list_slice', member: true, args: [LIST, INT, INT], result: LIST, evaluate: slice }],
    },
    {
      name: 'flatten',
      cost: FLATTEN_COST,
      overloads: [
        { id: 'list_flatten', member: true, args: [listType(LIST)], result: LIST },
        { id: 'list_flatten_int', member: true, args: [listType(DYN), INT], result: listType(DYN) },
      ],
      evaluate: flatten,
    },
    {
      name: 'sort',
      overloads: COMPARABLE.map((type) => ({
        id: `list_${type.name}_sort`,
        member: true,
        args: [listType(type)],
        result: listType(type),
        cost: sortCost(type),
      })),
      evaluate: (list) => (list instanceof CelList ? sortByKeys(list, list) : refuse('sort')),
    },
    {
      name: '@sortByAssociatedKeys',
      overloads: COMPARABLE.map((type) => ({
        id: `list_${type.name}_sortByAssociatedKeys`,
        member: true,
        args: [LIST, listType(type)],
        result: LIST,
        cost: sortByCost(type),
      })),
      evaluate: (list, keys) =>
        list instanceof CelList && keys instanceof CelList ? sortByKeys(list, keys) : refuse('@sortByAssociatedKeys'),
    },
    {
      name: 'lists.range',
      cost: RANGE_COST,
      overloads: [
        {
          id: 'lists_range',
          args: [INT],
          result: listType(INT),
          evaluate: (count: CelInt) => new ArrayList(Array.from({ length: Math.max(0, Number(count)) }, (_, i) => i)),
        },
      ],
    },
    {
      name: 'reverse',
      cost: REVERSE_COST,
      overloads: [
        {
          id: 'list_reverse',
          member: true,
          args: [LIST],
          result: LIST,
          evaluate: (list: CelList) => new ArrayList(list.toArray().reverse()),
        },
      ],
    },
    {
      name: 'distinct',
      cost: DISTINCT_COST,
      overloads: [{ id: 'list_distinct', member: true, args: [LIST], result: LIST, evaluate: distinct }],
    },
  ],
}))

function slice(list: CelList, start: CelInt, end: CelInt): CelList {
  const call = `cannot slice(${start}, ${end})`
  if (start < 0 || end < 0) throw new CelError(`${call}, negative indexes not supported`)
  if (start > end) throw new CelError(`${call}, start index must be less than or equal to end index`)
  if (list.size < end) throw new CelError(`${call}, list is length ${list.size}`)
  const elements: CelValue[] = []
  for (let i = Number(start); i < end; i++) elements.push(list.at(i))
  return new ArrayList(elements)
}

function refuse(name: string): never {
  throw new CelError(`no such overload: ${name}`)
}

/** As in cel-go, accepts any list despite the declared type: elements that are not lists are kept. */
function flatten(list: CelValue | undefined, depth: CelValue | undefined): CelList {
  const isDepth = depth === undefined || typeof depth === 'number' || typeof depth === 'bigint'
  if (!(list instanceof CelList) || !isDepth) {
    const given = depth === undefined ? '' : typeOf(depth).name
    throw new CelError(`no such overload: ${typeOf(list ?? null).name}.flatten(${given})`)
  }
  if (depth !== undefined && depth < 0) throw new CelError('level must be non-negative')
  const elements: CelValue[] = []
  collect(list, depth === undefined ? 1 : Number(depth), elements)
  return new ArrayList(elements)
}

function collect(list: CelList, depth: number, into: CelValue[]): void {
  for (const element of list) {
    if (element instanceof CelList && depth > 0) collect(element, depth - 1, into)
    else into.push(element)
  }
}

/** Returns the elements of `list`, sorted by the keys at the same indexes. */
function sortByKeys(list: CelList, keys: CelList): CelList {
  if (list.size !== keys.size) {
    throw new CelError(
      `@sortByAssociatedKeys() expected a list of the same size as the associated keys list, but got ${list.size} and ${keys.size} elements respectively`,
    )
  }
  if (list.size < 2) {
    if (list.size === 1 && !isComparable(typeOf(keys.at(0)))) throw new CelError('list elements must be comparable')
    return list
  }
  const type = typeOf(keys.at(0))
  if (!isComparable(type)) throw new CelError('list elements must be comparable')
  const pairs = list.toArray().map((element, i) => ({ element, key: keys.at(i) }))
  if (pairs.some(({ key }) => !sameType(typeOf(key), type))) {
    throw new CelError('list elements must have the same type')
  }
  pairs.sort((a, b) => compareOrTie(a.key, b.key))
  return new ArrayList(pairs.map(({ element }) => element))
}

function isComparable(type: CelType): boolean {
  return COMPARABLE.some((comparable) => sameType(comparable, type))
}

function distinct(list: CelList): CelList {
  if (list.size === 0) return list
  const unique: CelValue[] = []
  for (const element of list) {
    if (!unique.some((other) => equalsOrNot(element, other))) unique.push(element)
  }
  return new ArrayList(unique)
}

const INPUT = '@__sortBy_input__'

/** `list.sortBy(e, key)` evaluates the list once, maps it to its keys, and sorts by them. */
function sortByMacro(): CelMacro {
  return { fn: 'sortBy', receiver: true, argCount: 2, expand: expandSortBy }
}

function expandSortBy(factory: MacroFactory, target: Expr | undefined, args: readonly Expr[]): Expr | undefined {
  if (target === undefined) return undefined
  if (!['list', 'select', 'ident', 'comprehension', 'call'].includes(target.kind)) {
    const message = 'sortBy can only be applied to a list, identifier, comprehension, call or select expression'
    throw factory.error(message, target)
  }
  const keys = mapFold(factory, factory.ident(INPUT), args)
  return factory.comprehension({
    range: factory.list(),
    iterVar: '#unused',
    iterVar2: undefined,
    accuVar: INPUT,
    accuInit: target,
    condition: factory.literal(false),
    step: factory.ident(INPUT),
    result: factory.memberCall('@sortByAssociatedKeys', factory.ident(INPUT), keys),
  })
}
