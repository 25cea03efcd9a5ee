import { describe, expect, test } from 'vitest'
import { CelEnvironment } from './environment.ts'
import { CostMeter } from './expression.ts'
import type { CelSchema } from './schema/cel-schema.ts'
import { declareSchema } from './schema/declared-type.ts'

const base = CelEnvironment.create()
const fields: CelSchema = {
  type: 'object',
  properties: {
    n: { type: 'integer' },
    s: { type: 'string', maxLength: 10 },
    long: { type: 'string' },
    list: {
      type: 'array',
      maxItems: 4,
      items: { type: 'object', properties: { id: { type: 'string', maxLength: 5 } } },
    },
    ints: { type: 'array', items: { type: 'integer' } },
    map: { type: 'object', maxProperties: 3, additionalProperties: { type: 'string', maxLength: 5 } },
  },
}
const self = {
  n: 3,
  s: 'abcdefghijk',
  long: 'x'.repeat(25),
  list: [{ id: 'a' }, { id: 'b' }],
  ints: [1, 2, 3],
  map: { k: 'v' },
}

function compile(source: string): ReturnType<CelEnvironment['compile']> {
  const declared = declareSchema(fields)!
  return base.extend({ variables: { self: declared, oldSelf: declared } }).compile(source)
}

describe('evaluate() counts the cost like cel-go', () => {
  test.each([
    ['true', 0],
    ['self.n == 3', 3],
    ['self.n + 1 < 5', 4],
    ['has(self.n)', 1],
    ['has(self.n) && self.n > 0', 4],
    ['self.n > 5 && self.s == "x"', 3],
    ['self.n > 0 ? self.n : self.n + 1', 4],
    ['self.n > 5 ? self.n : self.n + 1', 6],
    ["self.s == 'abcdefghijk'", 4],
    ["self.long == ''", 2],
    ["self.long.startsWith('x')", 5],
    ["self.long.contains('xxx')", 5],
    ["self.long.matches('x+y*')", 5],
    ["self.long + self.long == 'x'", 10],
    ['self.ints[0] == 1', 4],
    ['self.ints[self.n - 1] == 3', 7],
    ['self.n in [1, 2, 3]', 2],
    ['self.n in self.ints', 7],
    ['size(self.ints) == 3', 4],
    ['[1, 2, 3] == [1, 2, 3]', 1],
    ['[self.n] == [3]', 13],
    ["{'a': self.n}.a == 3", 35],
    ["duration('1s') < duration('2s')", 1],
    ['int(self.s.size()) > 0', 5],
    ['self.ints.all(i, i > 0)', 18],
    ['self.ints.exists(i, i > 0)', 12],
    ['self.ints.exists_one(i, i > 2)', 12],
    ['self.ints.map(i, i) == []', 42],
    ['self.ints.filter(i, i > 2) == []', 22],
    ["self.map.all(k, self.map[k] == 'v')", 10],
    ['self.map.all(k, v, v != k)', 9],
    ["self.list.all(x, x.id != 'z')", 15],
    ["self.?s.orValue('') == ''", 2],
    ['type(self.n) == int', 4],
    ['dyn(self.n) == 3', 4],
  ])('%s: %i', (source, cost) => {
    const meter = new CostMeter()
    compile(source).evaluate({ self }, meter)
    expect(meter.cost).toBe(cost)
  })
})

test('evaluate() does not charge for selections from missing values', () => {
  const nested: CelSchema = { type: 'object', properties: { c: { type: 'integer' } } }
  const schema: CelSchema = { type: 'object', properties: { a: { type: 'object', properties: { b: nested } } } }
  const expression = base.extend({ variables: { self: declareSchema(schema)! } }).compile('self.a.b.c == 1 || true')
  const meter = new CostMeter()
  expression.evaluate({ self: {} }, meter)
  expect(meter.cost).toBe(3)
  expression.evaluate({ self: { a: { b: { c: 2 } } } }, meter)
  expect(meter.cost).toBe(5)
})

describe('estimateCost() bounds the cost by the sizes in the schema', () => {
  test.each([
    ['true', 0, 0],
    ['self.n == 3', 2, 2],
    ['has(self.n)', 1, 1],
    ["self.s == 'x'", 3, 3],
    ["self.s.contains('abc')", 2, 6],
    ["self.long.contains('abc')", 2, 314575],
    ["self.long.matches('a*b*')", 3, 314575],
    ['self.n > 0 && self.s.size() > 0', 3, 7],
    ['self.n in self.ints', 4, 1572867],
    ['self.list.all(x, x.id == self.s)', 3, 39],
    ['self.ints.all(x, self.ints.all(y, x == y))', 3, 12369499521026],
    ['self.map.all(k, self.map[k].size() > 0)', 3, 30],
    ['self.list.map(x, x.id).size() == 2', 15, 71],
    ['[1, 2].map(x, x) == [1, 2]', 58, 58],
    ['self.?s.orValue("") == ""', 3, 3],
    ['oldSelf.n == self.n', 4, 4],
  ])('%s: %i to %i', (source, min, max) => {
    expect(compile(source).estimateCost()).toEqual({ min, max })
  })

  test('uses the sizes of the caller instead', () => {
    const sizes = (path: readonly string[]): { min: number; max: number } | undefined =>
      path.join('.') === 'self.ints' ? { min: 0, max: 2 } : undefined
    expect(compile('self.ints.all(x, x > 0)').estimateCost(sizes)).toEqual({ min: 3, max: 13 })
  })
})
