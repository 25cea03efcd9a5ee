import {
  addRanges,
  type CallEstimate,
  type CostEstimate,
  type CostNode,
  exactly,
  multiplyRanges,
  REGEX_LENGTH_COST,
  type SizeEstimate,
  STRING_TRAVERSAL_COST,
  scaleRange,
  UNKNOWN_SIZE,
  unionRanges,
} from '../cost-estimate.ts'

/** Records the sizes of the elements of the result. */
export interface EntrySizes {
  /** States that the elements of the result are those of the two arguments, given by index. */
  setEntrySize(first: number, second: number): void
}

function sizeOf(node: CostNode | undefined): SizeEstimate {
  return node?.computedSize ?? UNKNOWN_SIZE
}

function traversal(size: SizeEstimate): CostEstimate {
  return scaleRange(size, STRING_TRAVERSAL_COST)
}

/** Returns the estimate for a standard function, including its arguments, as in checker/cost.go. */
export function standardCallEstimate(
  overloadId: string,
  target: CostNode | undefined,
  args: readonly CostNode[],
  argCosts: readonly CostEstimate[],
  entries: EntrySizes,
): CallEstimate {
  const withArgs = (cost: CostEstimate): CostEstimate => argCosts.reduce(addRanges, cost)
  switch (overloadId) {
    case 'string_format':
      return { cost: withArgs(traversal(sizeOf(target))) }
    case 'string_to_bytes': {
      const size = sizeOf(args[0])
      return { cost: withArgs(traversal(size)), resultSize: { min: size.min, max: size.max * 4 } }
    }
    case 'bytes_to_string': {
      const size = sizeOf(args[0])
      return { cost: withArgs(traversal(size)), resultSize: { min: Math.trunc(size.min / 4), max: size.max } }
    }
    case 'strings_quote': {
      const size = sizeOf(args[0])
      return { cost: withArgs(traversal(size)), resultSize: { min: size.min + 2, max: size.max * 2 + 2 } }
    }
    case 'starts_with_string':
    case 'ends_with_string':
      return { cost: withArgs(traversal(sizeOf(args[0]))) }
    case 'in_list':
      return { cost: withArgs(scaleRange(sizeOf(args[1]), 1)) }
    case 'matches_string': {
      if (target === undefined) break
      // One more than the length, so that an empty text does not make an expensive pattern free.
      const text = traversal(addRanges(sizeOf(target), exactly(1)))
      return { cost: withArgs(multiplyRanges(text, scaleRange(sizeOf(args[0]), REGEX_LENGTH_COST))) }
    }
    case 'contains_string':
      return { cost: withArgs(multiplyRanges(traversal(sizeOf(target)), traversal(sizeOf(args[0])))) }
    case 'logical_or':
    case 'logical_and': {
      const [left, right] = argCosts as [CostEstimate, CostEstimate]
      return { cost: { min: left.min, max: addRanges(left, right).max } }
    }
    case 'conditional': {
      entries.setEntrySize(1, 2)
      const [condition, yes, no] = argCosts as [CostEstimate, CostEstimate, CostEstimate]
      return {
        cost: addRanges(condition, unionRanges(yes, no)),
        resultSize: unionRanges(sizeOf(args[1]), sizeOf(args[2])),
      }
    }
    case 'add_string':
    case 'add_bytes':
    case 'add_list': {
      const resultSize = addRanges(sizeOf(args[0]), sizeOf(args[1]))
      entries.setEntrySize(0, 1)
      // The cost of concatenating lists does not depend on their sizes.
      return { cost: withArgs(overloadId === 'add_list' ? exactly(1) : traversal(resultSize)), resultSize }
    }
    default:
      if (!COMPARISONS.has(overloadId)) break
      return { cost: withArgs(comparison(sizeOf(args[0]), sizeOf(args[1]))) }
  }
  return { cost: withArgs(exactly(1)) }
}

/** A comparison stops at the end of the shorter operand. */
function comparison(left: SizeEstimate, right: SizeEstimate): CostEstimate {
  const max = Math.min(left.max, right.max)
  return traversal({ min: max > 0 ? 1 : 0, max })
}

const COMPARISONS = new Set([
  ...['less', 'less_equals', 'greater', 'greater_equals'].flatMap((verb) => [`${verb}_string`, `${verb}_bytes`]),
  'equals',
  'not_equals',
])
