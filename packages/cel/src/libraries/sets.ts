// Set operations on lists, as in cel-go's ext/sets.go. Order and duplicates do not matter.

import { addRanges, exactly, type FunctionCost, multiplyRanges, scaleRange } from '../define/cost-estimate.ts'
import { type CelLibrary, defineLibrary } from '../define/library.ts'
import { BOOL, listType, typeParam } from '../values/cel-type.ts'
import type { CelList } from '../values/collections.ts'
import { actualSize } from '../values/values.ts'

const LIST = listType(typeParam('T'))

/** The cost of comparing each element of one list with each element of the other, `factor` times. */
function pairwiseCost(factor: number): FunctionCost {
  return {
    estimate(call) {
      const [a, b] = call.args
      if (a === undefined || b === undefined) return undefined
      return { cost: addRanges(scaleRange(multiplyRanges(call.sizeOf(a), call.sizeOf(b)), factor), exactly(1)) }
    },
    track: (_, [a, b]) => 1 + actualSize(a ?? null) * actualSize(b ?? null) * factor,
  }
}

/** The set functions: sets.contains, sets.equivalent, sets.intersects. */
export const setsLibrary: CelLibrary = defineLibrary('cel.lib.ext.sets', () => ({
  functions: [
    {
      name: 'sets.contains',
      cost: pairwiseCost(1),
      overloads: [{ id: 'list_sets_contains_list', args: [LIST, LIST], result: BOOL, evaluate: contains }],
    },
    {
      name: 'sets.equivalent',
      cost: pairwiseCost(2),
      overloads: [
        {
          id: 'list_sets_equivalent_list',
          args: [LIST, LIST],
          result: BOOL,
          evaluate: (a: CelList, b: CelList) => contains(a, b) && contains(b, a),
        },
      ],
    },
    {
      name: 'sets.intersects',
      cost: pairwiseCost(1),
      overloads: [{ id: 'list_sets_intersects_list', args: [LIST, LIST], result: BOOL, evaluate: intersects }],
    },
  ],
}))

function contains(list: CelList, sublist: CelList): boolean {
  for (const element of sublist) {
    if (!list.contains(element)) return false
  }
  return true
}

function intersects(a: CelList, b: CelList): boolean {
  for (const element of a) {
    if (b.contains(element)) return true
  }
  return false
}
