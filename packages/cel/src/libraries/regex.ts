// find and findAll (apiserver/pkg/cel/library/regex.go), with Go's matching rules: leftmost-first, in linear time.
import type { RE2JS } from 're2js'
import {
  addRanges,
  exactly,
  type FunctionCost,
  multiplyRanges,
  REGEX_LENGTH_COST,
  STRING_TRAVERSAL_COST,
  scaleRange,
} from '../define/cost-estimate.ts'
import { type CelLibrary, defineLibrary } from '../define/library.ts'
import { CelError } from '../values/cel-error.ts'
import { INT, listType, STRING } from '../values/cel-type.ts'
import { ArrayList, type CelList } from '../values/collections.ts'
import { regexOf } from '../values/regex.ts'
import { actualSize, type CelInt } from '../values/values.ts'
import { regexCost } from './cost-rules.ts'

const FIND_COST: FunctionCost = {
  estimate(call) {
    const pattern = call.args[0]
    if (call.target === undefined || pattern === undefined) return undefined
    const size = call.sizeOf(call.target)
    const text = scaleRange(addRanges(size, exactly(1)), STRING_TRAVERSAL_COST)
    const states = scaleRange(call.sizeOf(pattern), REGEX_LENGTH_COST)
    // In the worst case, each character is a match.
    return { cost: multiplyRanges(text, states), resultSize: { min: 0, max: size.max } }
  },
  track: (_, [text, pattern]) => regexCost(actualSize(text ?? ''), actualSize(pattern ?? '')),
}

/** The regular-expression functions: find, findAll. */
export const regexLibrary: CelLibrary = defineLibrary('kubernetes.regex', () => ({
  functions: [
    {
      name: 'find',
      cost: FIND_COST,
      overloads: [{ id: 'string_find_string', member: true, args: [STRING, STRING], result: STRING, evaluate: find }],
    },
    {
      name: 'findAll',
      cost: FIND_COST,
      overloads: [
        {
          id: 'string_find_all_string',
          member: true,
          args: [STRING, STRING],
          result: listType(STRING),
          evaluate: (text: string, pattern: string) => findAll(text, pattern, -1),
        },
        {
          id: 'string_find_all_string_int',
          member: true,
          args: [STRING, STRING, INT],
          result: listType(STRING),
          evaluate: findAll,
        },
      ],
    },
  ],
}))

function compile(pattern: string): RE2JS {
  try {
    return regexOf(pattern)
  } catch (error) {
    throw new CelError(`Illegal regex: ${(error as Error).message}`)
  }
}

function find(text: string, pattern: string): string {
  const matcher = compile(pattern).matcher(text)
  return matcher.find() ? (matcher.group() ?? '') : ''
}

function findAll(text: string, pattern: string, limit: CelInt): CelList {
  const matches: string[] = []
  const matcher = compile(pattern).matcher(text)
  let previousEnd = -1
  while ((limit < 0 || matches.length < limit) && matcher.find()) {
    // As in Go, an empty match directly after another match does not count.
    if (matcher.end() === matcher.start() && matcher.start() === previousEnd) continue
    matches.push(matcher.group() ?? '')
    previousEnd = matcher.end()
  }
  return new ArrayList(matches)
}
