// Mutations of valid inputs. Every function draws from the given stream only, so that a seed reproduces its inputs.
import type { Random } from '@kubewright/base'

/** The text with lone surrogates replaced, as UTF-8 cannot hold them. */
export function wellFormed(text: string): string {
  return Buffer.from(text).toString()
}

/** True with the given probability. */
export function chance(random: Random, probability: number): boolean {
  return random.next() < probability
}

/** Values that programs often handle wrongly. */
export const oddValues: readonly unknown[] = [
  null,
  '',
  0,
  -0,
  -1,
  1.5,
  1e300,
  2 ** 31,
  2 ** 53,
  -(2 ** 63),
  true,
  [],
  {},
  [null],
  [[]],
  { '': '' },
  '\u0000',
  '\ud800',
  '☃',
  'a'.repeat(300),
  '2020-01-01T00:00:00Z',
  '1Gi',
  '1e999999999',
  '../..',
  'kind',
  '0x10',
  'true',
  '10%',
  { $patch: 'replace' },
  { $patch: 'delete' },
  { $patch: 'merge' },
  { $retainKeys: ['x'] },
  { '$setElementOrder/x': [1] },
  { '$deleteFromPrimitiveList/x': [1] },
  '__proto__',
  'constructor',
  'toString',
  { constructor: { prototype: 1 } },
]

/** Member names that exist on every object or have a special meaning. */
const oddNames: readonly string[] = [
  '',
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  '$patch',
  'a/b',
  'a~b',
  '.',
  '☃',
]

/** Text fragments that have a meaning in one of the grammars. */
export const oddTexts: readonly string[] = [
  ...[
    '',
    '{',
    '}',
    '[',
    ']',
    '"',
    "'",
    '`',
    '\\',
    '\\u',
    '\\ud800',
    ',',
    ':',
    ': ',
    '- ',
    '&a ',
    '*a',
    '!!x ',
    '!!binary ',
  ],
  ...[
    '<<: *a',
    '---\n',
    '...\n',
    '? ',
    '| ',
    '> ',
    '%YAML 1.2\n',
    '\t',
    '\n',
    '\r',
    '\r\n',
    '\u0000',
    '\u0085',
    '\u2028',
    '\ufeff',
  ],
  ...[
    '(',
    ')',
    '=',
    '==',
    '!=',
    '!',
    '<',
    '>',
    ' in ',
    ' notin ',
    '||',
    '&&',
    '?',
    '.',
    '..',
    '*',
    '@',
    '$',
    '#',
    '~1',
    '~0',
    '%',
    '%00',
    '%2F',
  ],
  ...[
    '0',
    '-0',
    '1e309',
    '9223372036854775808',
    '-9223372036854775809',
    '0.1',
    '1e-400',
    'Infinity',
    'NaN',
    'null',
    'true',
    '1h',
    'Ki',
    'm',
  ],
  ...['_', 'é', '☃', '\u{1f600}', '\ud800', '\udc00', '__proto__', 'a'.repeat(64), '='],
]

/** The text with one to four mutations: fragments inserted, removed, repeated, swapped or replaced. */
export function mutateText(random: Random, text: string, dictionary: readonly string[] = oddTexts): string {
  let result = text
  for (let left = 1 + random.int(4); left > 0; left--) {
    const at = random.int(result.length + 1)
    const length = Math.min(result.length - at, 1 + random.int(random.pick([1, 4, 32])))
    const piece = result.slice(at, at + length)
    const before = result.slice(0, at)
    switch (random.int(6)) {
      case 0:
        result = before + random.pick(dictionary) + result.slice(at)
        break
      case 1:
        result = before + result.slice(at + length)
        break
      case 2:
        result = before + piece.repeat(1 + random.int(8)) + result.slice(at)
        break
      case 3:
        result = before + random.pick(dictionary) + result.slice(at + length)
        break
      case 4: {
        const other = random.int(result.length + 1)
        result = before + result.slice(other, other + length) + result.slice(at)
        break
      }
      default:
        result = before + String.fromCharCode(random.int(chance(random, 0.8) ? 128 : 65_536)) + result.slice(at + 1)
    }
  }
  return result
}

/** The bytes with one to four mutations: bits flipped, bytes replaced, ranges removed, repeated or zeroed. */
export function mutateBytes(random: Random, bytes: Uint8Array): Buffer {
  let result = Buffer.from(bytes)
  for (let left = 1 + random.int(4); left > 0; left--) {
    const at = random.int(result.length + 1)
    const length = Math.min(result.length - at, 1 + random.int(random.pick([1, 8, 64])))
    switch (random.int(6)) {
      case 0:
        if (at < result.length) result[at]! ^= 1 << random.int(8)
        break
      case 1:
        if (at < result.length) result[at] = random.pick([0, 1, 0x7f, 0x80, 0xff, random.int(256)])
        break
      case 2:
        result = Buffer.concat([result.subarray(0, at), result.subarray(at + length)])
        break
      case 3:
        result = Buffer.concat([result.subarray(0, at + length), result.subarray(at)])
        break
      case 4:
        result.fill(0, at, at + length)
        break
      default:
        result = Buffer.concat([result.subarray(0, at), random.bytes(length), result.subarray(at)])
    }
  }
  return result
}

/** The value with one nested member replaced, removed, renamed or duplicated. */
export function mutateValue(random: Random, value: unknown): unknown {
  if (chance(random, 0.15)) return random.pick(oddValues)
  if (Array.isArray(value)) {
    const copy = [...value] as unknown[]
    const at = random.int(copy.length + 1)
    if (at === copy.length) copy.push(copy.length > 0 && chance(random, 0.5) ? copy[0] : random.pick(oddValues))
    else if (chance(random, 0.1)) copy.splice(at, 1)
    else copy[at] = mutateValue(random, copy[at])
    return copy
  }
  if (typeof value === 'string' && chance(random, 0.3)) return mutateText(random, value)
  if (typeof value !== 'object' || value === null) return chance(random, 0.7) ? random.pick(oddValues) : value
  const entries = Object.entries(value)
  if (entries.length === 0) return random.pick(oddValues)
  const at = random.int(entries.length)
  const [key, member] = entries[at]!
  const change = random.next()
  if (change < 0.1) entries.splice(at, 1)
  else if (change < 0.15) entries[at] = [random.pick(oddNames), member]
  else entries[at] = change < 0.2 ? [`${key}x`, member] : [key, mutateValue(random, member)]
  return Object.fromEntries(entries)
}

/** The value with one nested part enlarged to about `size` bytes of JSON: many items, many members, a long text or deep nesting. */
export function amplify(random: Random, value: unknown, size: number): unknown {
  const places = placesIn(value).filter((place) => place.length > 0)
  if (places.length === 0) return enlarged(random, value, size)
  return replaceAt(value, random.pick(places), (part) => enlarged(random, part, size))
}

function enlarged(random: Random, part: unknown, size: number): unknown {
  if (Array.isArray(part) && part.length > 0 && chance(random, 0.8)) {
    const isDistinct = chance(random, 0.5)
    const items: unknown[] = []
    for (let bytes = 0, i = 0; bytes < size; i++) {
      const item: unknown = isDistinct ? numbered(part[i % part.length], i) : part[i % part.length]
      items.push(item)
      bytes += (JSON.stringify(item) ?? '').length + 1
    }
    return items
  }
  if (typeof part === 'object' && part !== null && !Array.isArray(part) && chance(random, 0.7)) {
    const members = Object.entries(part)
    const sample: unknown = members.length > 0 ? random.pick(members)[1] : random.pick(oddValues)
    const each = (JSON.stringify(sample) ?? '').length + 10
    const count = Math.ceil(size / each)
    return { ...part, ...Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, sample])) }
  }
  switch (random.int(4)) {
    case 0:
      return random
        .pick(['a', '/', '/..', 'a.', '-', '(', '[', '{', '\\', 'a,', '%', ' ', '\n', '9', '☃', 'a=b,'])
        .repeat(size / 2)
    case 1:
      return nested(random.pick([100, 1000, 1990, 2001, 3000]), random.pick(['list', 'map']))
    case 2:
      return Array.from({ length: Math.floor(size / 3) }, () => random.pick([{}, [], '', 0, null]))
    default:
      return Object.fromEntries(
        Array.from({ length: Math.floor(size / 10) }, (_, i) => [`f${i}`, random.pick([0, '', {}])]),
      )
  }
}

/** The item with its names made distinct, as lists with keys require. */
function numbered(item: unknown, i: number): unknown {
  if (typeof item === 'string') return `${item}${i}`
  if (typeof item === 'number') return item + i
  if (typeof item !== 'object' || item === null || Array.isArray(item)) return item
  return Object.fromEntries(
    Object.entries(item).map(([name, value]) => [name, typeof value === 'object' ? value : numbered(value, i)]),
  )
}

function nested(depth: number, form: 'list' | 'map'): unknown {
  let value: unknown = 0
  for (let i = 0; i < depth; i++) value = form === 'list' ? [value] : { a: value }
  return value
}

/** The paths of all nested values, at most 2,000. */
function placesIn(value: unknown, path: readonly string[] = [], found: string[][] = []): string[][] {
  if (found.length >= 2000 || path.length > 50) return found
  found.push([...path])
  if (typeof value === 'object' && value !== null) {
    for (const [name, member] of Object.entries(value)) placesIn(member, [...path, name], found)
  }
  return found
}

function replaceAt(value: unknown, path: readonly string[], replace: (part: unknown) => unknown): unknown {
  const [first, ...rest] = path
  if (first === undefined) return replace(value)
  if (Array.isArray(value))
    return value.map((item: unknown, i) => (String(i) === first ? replaceAt(item, rest, replace) : item))
  return Object.fromEntries(
    Object.entries(value as object).map(([name, member]) => [
      name,
      name === first ? replaceAt(member, rest, replace) : member,
    ]),
  )
}
