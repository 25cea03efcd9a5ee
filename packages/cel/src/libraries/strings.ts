// The string functions of cel-go's ext/strings.go, version 2, which Kubernetes enables. Positions and lengths count
// code points.
import { shortQuote } from '@kubewright/base'
import {
  addRanges,
  type CallCostContext,
  type CallEstimate,
  exactly,
  MAX_COST,
  multiplyRanges,
  type SizeEstimate,
  STRING_TRAVERSAL_COST,
  scaleRange,
} from '../define/cost-estimate.ts'
import { type CelFunction, type CelLibrary, defineLibrary } from '../define/library.ts'
import { CelError, checkTextLength } from '../values/cel-error.ts'
import { DYN, INT, listType, STRING } from '../values/cel-type.ts'
import { ArrayList, type CelList } from '../values/collections.ts'
import { actualSize, type CelInt } from '../values/values.ts'
import { SEARCH_COST, traversalOfFirst } from './cost-rules.ts'
import { indexOfText, lastIndexOfText, splitText } from './search.ts'
import { formatString } from './string-format.ts'

const STRINGS = listType(STRING)

const CHANGE_COST = traversalOfFirst({ keepsSize: true })

const functions = (): readonly CelFunction[] => [
  {
    name: 'charAt',
    overloads: [{ id: 'string_char_at_int', member: true, args: [STRING, INT], result: STRING, evaluate: charAt }],
  },
  {
    name: 'indexOf',
    cost: SEARCH_COST,
    overloads: [
      {
        id: 'string_index_of_string',
        member: true,
        args: [STRING, STRING],
        result: INT,
        evaluate: (text: string, part: string) => indexOf(text, part, 0),
      },
      { id: 'string_index_of_string_int', member: true, args: [STRING, STRING, INT], result: INT, evaluate: indexOf },
    ],
  },
  {
    name: 'lastIndexOf',
    cost: SEARCH_COST,
    overloads: [
      {
        id: 'string_last_index_of_string',
        member: true,
        args: [STRING, STRING],
        result: INT,
        evaluate: (text: string, part: string) => lastIndexOf(text, part, undefined),
      },
      {
        id: 'string_last_index_of_string_int',
        member: true,
        args: [STRING, STRING, INT],
        result: INT,
        evaluate: (text: string, part: string, offset: CelInt) => lastIndexOf(text, part, offset),
      },
    ],
  },
  {
    name: 'lowerAscii',
    cost: CHANGE_COST,
    overloads: [
      {
        id: 'string_lower_ascii',
        member: true,
        args: [STRING],
        result: STRING,
        evaluate: (text: string) => text.replace(/[A-Z]+/g, (run) => run.toLowerCase()),
      },
    ],
  },
  {
    name: 'upperAscii',
    cost: CHANGE_COST,
    overloads: [
      {
        id: 'string_upper_ascii',
        member: true,
        args: [STRING],
        result: STRING,
        evaluate: (text: string) => text.replace(/[a-z]+/g, (run) => run.toUpperCase()),
      },
    ],
  },
  {
    name: 'replace',
    cost: { estimate: estimateReplace, track: traversalOfFirst({ factor: 2 }).track! },
    overloads: [
      {
        id: 'string_replace_string_string',
        member: true,
        args: [STRING, STRING, STRING],
        result: STRING,
        evaluate: (text: string, old: string, replacement: string) => replace(text, old, replacement, -1),
      },
      {
        id: 'string_replace_string_string_int',
        member: true,
        args: [STRING, STRING, STRING, INT],
        result: STRING,
        evaluate: replace,
      },
    ],
  },
  {
    name: 'split',
    cost: { estimate: estimateSplit, track: traversalOfFirst({ factor: 2 }).track! },
    overloads: [
      {
        id: 'string_split_string',
        member: true,
        args: [STRING, STRING],
        result: STRINGS,
        evaluate: (text: string, separator: string) => splitList(text, separator, -1),
      },
      {
        id: 'string_split_string_int',
        member: true,
        args: [STRING, STRING, INT],
        result: STRINGS,
        evaluate: splitList,
      },
    ],
  },
  {
    name: 'substring',
    cost: CHANGE_COST,
    overloads: [
      { id: 'string_substring_int', member: true, args: [STRING, INT], result: STRING, evaluate: substringFrom },
      { id: 'string_substring_int_int', member: true, args: [STRING, INT, INT], result: STRING, evaluate: substring },
    ],
  },
  {
    name: 'trim',
    cost: CHANGE_COST,
    overloads: [{ id: 'string_trim', member: true, args: [STRING], result: STRING, evaluate: trimSpace }],
  },
  {
    name: 'join',
    cost: {
      estimate: estimateJoin,
      track: (_, __, result) => Math.ceil(actualSize(result) * 2 * STRING_TRAVERSAL_COST),
    },
    overloads: [
      { id: 'list_join', member: true, args: [STRINGS], result: STRING, evaluate: (list: CelList) => join(list, '') },
      { id: 'list_join_string', member: true, args: [STRINGS, STRING], result: STRING, evaluate: join },
    ],
  },
  {
    name: 'format',
    cost: traversalOfFirst(),
    overloads: [
      { id: 'string_format', member: true, args: [STRING, listType(DYN)], result: STRING, evaluate: formatString },
    ],
  },
  {
    name: 'strings.quote',
    cost: {
      estimate(call) {
        const text = call.args[0]
        if (text === undefined) return undefined
        const size = call.sizeOf(text)
        const cost = scaleRange(size, STRING_TRAVERSAL_COST)
        return { cost, resultSize: { min: size.min + 2, max: Math.min(MAX_COST, size.max * 2 + 2) } }
      },
      track: traversalOfFirst().track!,
    },
    overloads: [{ id: 'strings_quote', args: [STRING], result: STRING, evaluate: shortQuote }],
  },
]

/** The string functions: charAt, indexOf, lastIndexOf, join, lowerAscii, upperAscii, replace, split, substring, trim, format, quote. */
export const stringsLibrary: CelLibrary = defineLibrary('cel.lib.ext.strings', () => ({ functions: functions() }))

const HAS_SURROGATES = /[\ud800-\udfff]/

/** Returns the code points, or the text itself if it has no surrogates. Both are indexed in the same way. */
function points(text: string): string | string[] {
  return HAS_SURROGATES.test(text) ? [...text] : text
}

function textOf(part: string | string[]): string {
  return typeof part === 'string' ? part : part.join('')
}

function outOfRange(index: CelInt): CelError {
  return new CelError(`index out of range: ${index}`)
}

function charAt(text: string, index: CelInt): string {
  const chars = points(text)
  if (index < 0 || index > chars.length) throw outOfRange(index)
  return chars[Number(index)] ?? ''
}

function indexOf(text: string, part: string, offset: CelInt): CelInt {
  if (part === '') return offset
  if (offset < 0) throw outOfRange(offset)
  const chars = points(text)
  if (offset >= chars.length) return -1
  return pointsBefore(text, indexOfText(text, part, unitsBefore(chars, Number(offset))))
}

function lastIndexOf(text: string, part: string, offset: CelInt | undefined): CelInt {
  const chars = points(text)
  if (part === '') return offset ?? chars.length
  if (offset === undefined && text.length < part.length) return -1
  const last = offset ?? chars.length - 1
  if (last < 0) throw outOfRange(last)
  if (last >= chars.length) return -1
  return pointsBefore(text, lastIndexOfText(text, part, unitsBefore(chars, Number(last))))
}

/** Converts a number of code points from the start into one of UTF-16 code units. */
function unitsBefore(chars: string | string[], count: number): number {
  if (typeof chars === 'string') return count
  let units = 0
  for (let i = 0; i < count; i++) units += chars[i]!.length
  return units
}

/** Converts a position in UTF-16 code units into one in code points. Keeps -1. */
function pointsBefore(text: string, unit: number): number {
  return unit < 0 ? unit : points(text.slice(0, unit)).length
}

function replace(text: string, old: string, replacement: string, limit: CelInt): string {
  if (limit === 0 || old === replacement) return text
  const parts = old === '' ? ['', ...text, ''] : splitText(text, old)
  const count = limit < 0 ? parts.length - 1 : Math.min(Number(limit), parts.length - 1)
  checkTextLength(text.length + count * replacement.length)
  if (limit < 0 && old !== '') return parts.join(replacement)
  // An empty search text matches before each character and at the end. There is no separator to restore between the
  // parts.
  const joint = old === '' ? '' : old
  return parts.reduce((out, part, i) => out + (i <= count ? replacement : joint) + part)
}

/**
 * Go's strings.SplitN: returns at most `limit` parts, the last of which is the rest; all parts if the limit is
 * negative.
 */
function split(text: string, separator: string, limit: CelInt): string[] {
  if (limit === 0) return []
  const parts = separator === '' ? [...text] : splitText(text, separator)
  if (limit < 0 || parts.length <= limit) return parts
  const head = parts.slice(0, Number(limit) - 1)
  return [...head, parts.slice(head.length).join(separator)]
}

function splitList(text: string, separator: string, limit: CelInt): CelList {
  return new ArrayList(split(text, separator, limit))
}

function substringFrom(text: string, start: CelInt): string {
  const chars = points(text)
  if (start < 0 || start > chars.length) throw outOfRange(start)
  return textOf(chars.slice(Number(start)))
}

function substring(text: string, start: CelInt, end: CelInt): string {
  if (start > end) throw new CelError(`invalid substring range. start: ${start}, end: ${end}`)
  const chars = points(text)
  if (start < 0 || start > chars.length) throw outOfRange(start)
  if (end < 0 || end > chars.length) throw outOfRange(end)
  return textOf(chars.slice(Number(start), Number(end)))
}

/** Go's unicode.IsSpace. Unlike String.prototype.trim, it includes U+0085 and excludes U+FEFF. */
const SPACES = '[\\t\\n\\v\\f\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]+'
const OUTER_SPACES = new RegExp(`^${SPACES}|${SPACES}$`, 'g')

function trimSpace(text: string): string {
  return text.replace(OUTER_SPACES, '')
}

function join(list: CelList, separator: string): string {
  const texts: string[] = []
  let length = 0
  for (const element of list) {
    if (typeof element !== 'string') throw new CelError(`join: invalid input: ${element}`)
    texts.push(element)
    length += element.length + separator.length
  }
  checkTextLength(length)
  return texts.join(separator)
}

function estimateReplace(call: CallCostContext): CallEstimate | undefined {
  const [oldNode, newNode] = call.args
  if (call.target === undefined || oldNode === undefined || newNode === undefined) return undefined
  const text = call.sizeOf(call.target)
  const old = call.sizeOf(oldNode)
  const replacement = call.sizeOf(newNode)
  // The longest result: the shortest part is replaced by the longest text as often as possible.
  const longest = replacedSize(text.max, old.min, replacement.max <= old.min)
  // The shortest result: the longest part is replaced by the shortest text.
  const shortest = replacedSize(text.min, old.max, old.max <= replacement.min)
  const resultSize = addRanges(multiplyRanges({ min: shortest.count, max: longest.count }, replacement), {
    min: shortest.retained,
    max: longest.retained,
  })
  return { cost: scaleRange(text, 2 * STRING_TRAVERSAL_COST), resultSize }
}

function replacedSize(text: number, old: number, keepsLength: boolean): { count: number; retained: number } {
  // An empty part matches around each character, and all characters are kept.
  if (old === 0) return { count: text < MAX_COST ? text + 1 : text, retained: text }
  return keepsLength ? { count: 0, retained: text } : { count: Math.ceil(text / old), retained: 0 }
}

function estimateSplit(call: CallCostContext): CallEstimate | undefined {
  if (call.target === undefined) return undefined
  const size = call.sizeOf(call.target)
  const limit = call.args[1]?.literal
  const max = typeof limit === 'number' || typeof limit === 'bigint' ? unsigned(limit) : size.max
  return { cost: scaleRange(size, 2 * STRING_TRAVERSAL_COST), resultSize: { min: 0, max } }
}

/** As in Kubernetes, a negative limit is read as an unsigned number and therefore means no limit. */
function unsigned(value: CelInt): number {
  return value < 0 ? MAX_COST : Number(value)
}

function estimateJoin(call: CallCostContext): CallEstimate | undefined {
  if (call.target === undefined) return undefined
  const list = call.sizeOf(call.target)
  const element = call.elementOf(call.target)
  let size: SizeEstimate = element === undefined ? exactly(0) : multiplyRanges(list, call.sizeOf(element))
  const separator = call.args[0]
  if (separator !== undefined) {
    const gaps = { min: Math.max(0, list.min - 1), max: Math.max(0, list.max - 1) }
    size = addRanges(size, multiplyRanges(call.sizeOf(separator), gaps))
  }
  return { cost: scaleRange(size, STRING_TRAVERSAL_COST), resultSize: size }
}
