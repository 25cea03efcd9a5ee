import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { JsonPath, relaxedJsonPath } from './json-path.ts'
import { parseSimplePath, schemaAt, valueAt } from './simple-path.ts'

const shop = {
  name: 'cosy',
  labels: { app: 'kubernetes', 'beta.kubernetes.io/os': 'linux', 'a b': 1 },
  books: [
    { category: 'reference', author: 'Nigel Rees', title: 'Sayings of the Century', price: 8.95 },
    { category: 'fiction', author: 'Evelyn Waugh', title: 'Sword of Honour', price: 12.99, used: true },
  ],
  bikes: [
    { color: 'red', price: 19.95, gears: 3 },
    { color: 'green', price: 20.01, gears: 7 },
    { color: 'blue', gears: 9007199254740993n },
  ],
  nothing: null,
  empty: [],
}

describe('JsonPath.render()', () => {
  test.each([
    ['plain', 'hello jsonpath', 'hello jsonpath'],
    ['text and action', 'hi {.name}!', 'hi cosy!'],
    ['field without a dollar', '{.name}', 'cosy'],
    ['field with a dollar', '{$.name}', 'cosy'],
    ['quoted text', "{\"a\\tb\"}{'\\''}", "a\tb'"],
    ['number literal', '{1}{-2}{3.50}', '1-23.5'],
    ['object as JSON, keys sorted', '{.bikes[0]}', '{"color":"red","gears":3,"price":19.95}'],
    ['whole list', '{.empty}', '[]'],
    ['null', '{.nothing}', 'null'],
    ['escaped dot', '{.labels.beta\\.kubernetes\\.io/os}', 'linux'],
    ['quoted key', "{.labels['app']}", 'kubernetes'],
    ['quoted key with escaped dots', "{.labels['beta\\.kubernetes\\.io/os']}", 'linux'],
    ['index', '{.bikes[1].color}', 'green'],
    ['negative index', '{.bikes[-1].color}', 'blue'],
    ['all', '{.bikes[*].color}', 'red green blue'],
    ['slice', '{.bikes[1:].color}', 'green blue'],
    ['slice with negative end', '{.bikes[:-1].color}', 'red green'],
    ['slice with step', '{.bikes[0:3:2].color}', 'red blue'],
    ['empty slice', '{.bikes[1:1].color}', ''],
    ['union of indexes', '{.bikes[0,2].color}', 'red blue'],
    ['union of keys', "{.books[0]['author','price']}", 'Nigel Rees 8.95'],
    ['wildcard', '{.books[0].*}', 'reference Nigel Rees Sayings of the Century 8.95'],
    ['recursive descent', '{..color}', 'red green blue'],
    ['filter by number', '{.bikes[?(@.gears<5)].color}', 'red'],
    ['filter by big number', '{.bikes[?(@.gears>=7)].color}', 'green blue'],
    ['filter by string', '{.bikes[?(@.color=="green")].gears}', '7'],
    ['filter by bool', '{.books[?(@.used==true)].author}', 'Evelyn Waugh'],
    ['filter by existence', '{.bikes[?(@.price)].color}', 'red green'],
    ['filter with a parenthesis in quotes', '{.bikes[?(@.color==")")].gears}', ''],
    ['range', '{range .bikes[*]}[{.color}]{end}', '[red][green][blue]'],
    ['range with text and newline', '{range .bikes[*]}{.color}{"\\n"}{end}done', 'red\ngreen\nblue\ndone'],
    [
      'range in a range',
      '{range .books[*]}{.category}:{range .*}<{@}>{end};{end}',
      expect.stringContaining('reference:<reference>'),
    ],
    ['range without elements', 'a{range .empty[*]}{@}b{end}c', 'ac'],
    ['big integers', '{.bikes[2].gears}', '9007199254740993'],
  ])('%s', (_, template, expected) => {
    expect(new JsonPath(template, { allowMissingKeys: true }).render(shop)).toEqual(expected)
  })
})

describe('JsonPath fails as client-go does', () => {
  test.each([
    ['{', 'unclosed action'],
    ['{.a', 'unclosed action'],
    ['{.a\n}', 'unclosed action'],
    ['{...a}', undefined],
    ['{....a}', 'invalid multiple recursive descent'],
    ['{*}', "unrecognized character in action: U+002A '*'"],
    ['{.a[1}', 'unterminated array'],
    ['{.a[x]}', 'invalid array index x'],
    ['{.a[1:2:3:4]}', 'invalid array index 1:2:3:4'],
    ['{.a[-]}', 'array index - is not a number'],
    ['{.a[?(@.b}', 'unterminated filter'],
    ['{.a[?(@.b)}', 'unclosed array expect ]'],
    ['{"a}', 'unterminated quoted string'],
    ['{"\\z"}', 'unquote string "\\z" error invalid syntax'],
    ['{1.2.3}', 'cannot parse number 1.2.3'],
  ])('parsing %s', (template, message) => {
    if (message === undefined) expect(new JsonPath(template)).toBeInstanceOf(JsonPath)
    else expect(() => new JsonPath(template)).toThrow(message)
  })

  test.each([
    ['{.nosuch}', 'nosuch is not found'],
    ['{.bikes[9]}', 'array index out of bounds: index 9, length 3'],
    ['{.bikes[0:9]}', 'array index out of bounds: index 8, length 3'],
    ['{.bikes[-4]}', 'array index out of bounds: index -1, length 3'],
    ['{.bikes[2:1]}', 'starting index 2 is greater than ending index 1'],
    ['{.bikes[::-1]}', 'step must be > 0'],
    ['{.labels[0]}', 'map[string]interface {} is not array or slice'],
    ['{.name[0]}', 'string is not array or slice'],
    ['{.name[?(@.a)]}', 'cosy is not array or slice and cannot be filtered'],
    ['{.bikes[?(@.gears=="3")].color}', 'incompatible types for comparison'],
    ['{.bikes[?(@.gears==3.0)].color}', 'incompatible types for comparison'],
    ['{.bikes[?(@==3)].color}', 'invalid type for comparison'],
    ['{.books[?(@.category===1)]}', 'unrecognized filter operator ==='],
    ['{.bikes[?(@.*==3)]}', 'can only compare one element at a time'],
    ['{end}', 'not in range, nothing to end'],
    ['{hello}', 'unrecognized identifier hello'],
  ])('evaluating %s', (template, message) => {
    expect(() => new JsonPath(template).render(shop)).toThrow(message)
  })
})

describe('JsonPath.find()', () => {
  test('returns the values of each action', () => {
    expect(new JsonPath('{.bikes[*].color}{.name}').find(shop)).toEqual([['red', 'green', 'blue'], ['cosy']])
  })

  test('finds any field by its path of escaped names', () => {
    const name = fc.string({
      minLength: 1,
      unit: fc.constantFrom('a', 'B', '1', '_', '-', '/', '.', '[', ']', '{', '}', ' ', '$'),
    })
    fc.assert(
      fc.property(fc.array(name, { minLength: 1, maxLength: 4 }), fc.integer(), (names, value) => {
        const path = names.map((n) => `.${n.replace(/[.[\]{} $]/g, '\\$&')}`).join('')
        const object = names.reduceRight<unknown>((inner, n) => ({ [n]: inner }), value)
        expect(new JsonPath(`{${path}}`).find(object)).toEqual([[value]])
      }),
    )
  })

  test('slices as Array.slice() does wherever both are defined', () => {
    fc.assert(
      fc.property(fc.array(fc.integer(), { minLength: 1 }), fc.nat(9), fc.nat(9), (list, a, b) => {
        const [start, stop] = [Math.min(a, b, list.length - 1), Math.min(Math.max(a, b), list.length)]
        expect(new JsonPath(`{[${start}:${stop}]}`).find(list)).toEqual([list.slice(start, stop)])
      }),
    )
  })

  test('finds with `..` the same values as a full traversal', () => {
    const tree = fc.letrec((tie) => ({
      node: fc.oneof(
        { maxDepth: 4 },
        fc.integer(),
        fc.array(tie('node'), { maxLength: 3 }),
        fc.dictionary(fc.constantFrom('x', 'y', 'z'), tie('node'), { maxKeys: 3 }),
      ),
    })).node
    const walk = (value: unknown): unknown[] =>
      typeof value !== 'object' || value === null
        ? []
        : [...(Object.hasOwn(value, 'x') ? [(value as { x: unknown }).x] : []), ...Object.values(value).flatMap(walk)]
    fc.assert(
      fc.property(tree, (value) => {
        expect(new JsonPath('{..x}', { allowMissingKeys: true }).find(value)).toEqual([walk(value)])
      }),
    )
  })
})

describe('relaxedJsonPath()', () => {
  test.each([
    ['', ''],
    ['spec.x', '{.spec.x}'],
    ['.spec.x', '{.spec.x}'],
    ['{spec.x}', '{.spec.x}'],
    ['{.spec.x}', '{.spec.x}'],
  ])('converts %j', (expression, template) => {
    expect(relaxedJsonPath(expression)).toBe(template)
  })

  test('rejects nested braces', () => {
    expect(() => relaxedJsonPath('{.a}{.b}')).toThrow(
      "unexpected path string, expected a 'name1.name2' or '.name1.name2' or '{name1.name2}' or '{.name1.name2}'",
    )
  })
})

describe('parseSimplePath()', () => {
  test.each([
    ['.spec.replicas', ['spec', 'replicas']],
    [".metadata.annotations['a.b/c'].x", ['metadata', 'annotations', 'a.b/c', 'x']],
    ['.a\\.b', ['a.b']],
  ])('parses %s', (path, names) => {
    expect(parseSimplePath(path)).toEqual(names)
  })

  test.each([
    ['spec', 'must be a simple json path starting with .'],
    ['.', 'must be a json path in the dot notation'],
    ['.spec[0]', 'must be a json path in the dot notation'],
    ['.spec..x', 'must be a json path in the dot notation'],
  ])('rejects %s', (path, message) => {
    expect(() => parseSimplePath(path)).toThrow(message)
  })
})

test('valueAt() and schemaAt() follow names', () => {
  expect(valueAt({ a: { b: 1 } }, ['a', 'b'])).toBe(1)
  expect(valueAt({ a: null }, ['a', 'b'])).toBeUndefined()
  expect(valueAt({}, ['toString'])).toBeUndefined()
  const schema = { properties: { a: { additionalProperties: { type: 'string' } } } }
  expect(schemaAt(schema, ['a', 'any'])).toEqual({ type: 'string' })
  expect(schemaAt(schema, ['b'])).toBeUndefined()
})

test('JsonPath.find() refuses a path whose steps multiply values without bound', () => {
  const path = new JsonPath(`{.a${"['b','b']".repeat(40)}}`)
  let data: unknown = 1
  for (let i = 0; i < 40; i++) data = { b: data }
  expect(() => path.find({ a: data })).toThrow('selects more than 1000000 values')
})

test('JsonPath.find() descends into deep objects in order', () => {
  let data: object = { x: 0 }
  for (let i = 1; i <= 1000; i++) data = { x: data }
  expect(new JsonPath('{..x}').find(data)[0]).toHaveLength(1001)
})
